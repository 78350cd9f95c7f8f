// A mesa transistor, lengths in micrometres: emitter on base on collector on substrate, each
// smaller than the one below; nodes are concentrated at the junctions between them.  About 33 000 nodes:
//   gmsh -3 -algo hxt -nt 1 -format msh41 -bin mesa.geo -o mesa.msh
SetFactory("OpenCASCADE");
DefineConstant[ lc = 0.045 ];
Box(1) = {0, 0, 0, 5, 4, 1};       // substrate
Box(2) = {0.5, 0.5, 1, 4, 3, 0.8}; // collector
Box(3) = {1, 1, 1.8, 3, 2, 0.3};   // base
Box(4) = {1.8, 1.3, 2.1, 1.2, 1.4, 0.5}; // emitter
v() = BooleanFragments{ Volume{1}; Delete; }{ Volume{2, 3, 4}; Delete; };
Physical Volume("substrate", 4) = {1};
Physical Volume("collector", 3) = {2};
Physical Volume("base", 2) = {3};
Physical Volume("emitter", 1) = {4};
Physical Surface("emitter contact", 12) = Surface In BoundingBox{1.7, 1.2, 2.59, 3.1, 2.8, 2.61};
Physical Surface("substrate contact", 14) = Surface In BoundingBox{-0.01, -0.01, -0.01, 5.01, 4.01, 0.01};
Field[1] = Box; // emitter and base junction
Field[1].XMin = 1; Field[1].XMax = 4; Field[1].YMin = 1; Field[1].YMax = 3;
Field[1].ZMin = 1.75; Field[1].ZMax = 2.15; Field[1].VIn = lc; Field[1].VOut = 5 * lc; Field[1].Thickness = 1.2;
Background Field = 1;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
