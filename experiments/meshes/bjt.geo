// A vertical bipolar transistor, lengths in micrometres: emitter in base in collector, all regions
// boxes that reach the surface; nodes are concentrated at both junctions.  About 47 000 nodes:
//   gmsh -3 -algo hxt -nt 1 -format msh41 -bin bjt.geo -o bjt.msh
SetFactory("OpenCASCADE");
DefineConstant[ lc = 0.0417 ];
Box(1) = {0, 0, 0, 4, 3, 2};           // collector
Box(2) = {0.6, 0.5, 1.4, 2.8, 2, 0.6}; // base
Box(3) = {1.0, 0.9, 1.7, 1.0, 1.2, 0.3}; // emitter
v() = BooleanFragments{ Volume{1}; Delete; }{ Volume{2, 3}; Delete; };
Physical Volume("emitter", 1) = {3};
Physical Volume("base", 2) = {5};
Physical Volume("collector", 3) = {4};
Physical Surface("collector contact", 11) = Surface In BoundingBox{-0.01, -0.01, -0.01, 4.01, 3.01, 0.01};
Physical Surface("emitter contact", 12) = Surface In BoundingBox{0.99, 0.89, 1.99, 2.01, 2.11, 2.01};
// sizes: small near the junctions, larger elsewhere
Field[1] = Box; // emitter junction
Field[1].XMin = 0.9; Field[1].XMax = 2.1; Field[1].YMin = 0.8; Field[1].YMax = 2.2;
Field[1].ZMin = 1.6; Field[1].ZMax = 1.8; Field[1].VIn = lc; Field[1].VOut = 4 * lc; Field[1].Thickness = 1;
Field[2] = Box; // base junction
Field[2].XMin = 0.5; Field[2].XMax = 3.5; Field[2].YMin = 0.4; Field[2].YMax = 2.6;
Field[2].ZMin = 1.3; Field[2].ZMax = 1.5; Field[2].VIn = lc; Field[2].VOut = 4 * lc; Field[2].Thickness = 1;
Field[3] = Min;
Field[3].FieldsList = {1, 2};
Background Field = 3;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
