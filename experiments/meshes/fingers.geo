// A transistor with four emitter fingers in one base, lengths in micrometres.  About 73 000 nodes:
//   gmsh -3 -algo hxt -nt 1 -format msh41 -bin fingers.geo -o fingers.msh
SetFactory("OpenCASCADE");
DefineConstant[ lc = 0.0461 ];
Box(1) = {0, 0, 0, 6, 4, 1.6};           // collector
Box(2) = {0.4, 0.4, 1.1, 5.2, 3.2, 0.5}; // base
For i In {0:3}
  Box(3 + i) = {0.8 + 1.25 * i, 0.8, 1.35, 0.6, 2.4, 0.25}; // emitters
EndFor
v() = BooleanFragments{ Volume{1}; Delete; }{ Volume{2:6}; Delete; };
Physical Volume("emitters", 1) = {3:6};
Physical Volume("base", 2) = {8};
Physical Volume("collector", 3) = {7};
Physical Surface("collector contact", 11) = Surface In BoundingBox{-0.01, -0.01, -0.01, 6.01, 4.01, 0.01};
Field[1] = Box; // emitter junctions
Field[1].XMin = 0.7; Field[1].XMax = 5.3; Field[1].YMin = 0.7; Field[1].YMax = 3.3;
Field[1].ZMin = 1.3; Field[1].ZMax = 1.4; Field[1].VIn = lc; Field[1].VOut = 5 * lc; Field[1].Thickness = 1.2;
Field[2] = Box; // base junction
Field[2].XMin = 0.3; Field[2].XMax = 5.7; Field[2].YMin = 0.3; Field[2].YMax = 3.7;
Field[2].ZMin = 1.05; Field[2].ZMax = 1.15; Field[2].VIn = lc; Field[2].VOut = 5 * lc; Field[2].Thickness = 1.2;
Field[3] = Min;
Field[3].FieldsList = {1, 2};
Background Field = 3;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
