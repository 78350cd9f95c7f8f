// A power transistor: a deep collector under two long emitters, lengths in micrometres.  About
// 290 000 nodes:
//   gmsh -3 -algo hxt -nt 1 -format msh41 -bin power.geo -o power.msh
SetFactory("OpenCASCADE");
DefineConstant[ lc = 0.0416 ];
Box(1) = {0, 0, 0, 8, 6, 4};           // collector
Box(2) = {0.8, 0.8, 3.2, 6.4, 4.4, 0.8}; // base
Box(3) = {1.4, 1.4, 3.6, 2.2, 3.2, 0.4}; // emitters
Box(4) = {4.4, 1.4, 3.6, 2.2, 3.2, 0.4};
v() = BooleanFragments{ Volume{1}; Delete; }{ Volume{2, 3, 4}; Delete; };
Physical Volume("emitters", 1) = {3, 4};
Physical Volume("base", 2) = {6};
Physical Volume("collector", 3) = {5};
Physical Surface("collector contact", 11) = Surface In BoundingBox{-0.01, -0.01, -0.01, 8.01, 6.01, 0.01};
Field[1] = Box; // emitter junctions
Field[1].XMin = 1.3; Field[1].XMax = 6.7; Field[1].YMin = 1.3; Field[1].YMax = 4.7;
Field[1].ZMin = 3.5; Field[1].ZMax = 3.7; Field[1].VIn = lc; Field[1].VOut = 5 * lc; Field[1].Thickness = 2;
Field[2] = Box; // base junction
Field[2].XMin = 0.7; Field[2].XMax = 7.3; Field[2].YMin = 0.7; Field[2].YMax = 5.3;
Field[2].ZMin = 3.1; Field[2].ZMax = 3.3; Field[2].VIn = lc; Field[2].VOut = 5 * lc; Field[2].Thickness = 2;
Field[3] = Min;
Field[3].FieldsList = {1, 2};
Background Field = 3;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
