// A quarter of the planar npn transistor of device.c: x = 0 and y = 0 are planes of symmetry, z is
// depth, lengths in um.
//   gmsh -3 -setnumber finest 0.05 transistor.geo -o transistor.msh
SetFactory("OpenCASCADE");
DefineConstant[finest = 0.05];   // distance of nodes at the junctions

Box(1) = {0, 0, 0, 3, 2, 2};
Rectangle(101) = {0, 0, 0, 0.7, 0.7};
Rectangle(102) = {1.5, 0, 0, 0.7, 1.2};
BooleanFragments{ Volume{1}; Delete; }{ Surface{101, 102}; Delete; }

e = 1e-3;
Physical Surface("emitter") = Surface In BoundingBox{-e, -e, -e, 0.7 + e, 0.7 + e, e};
Physical Surface("base") = Surface In BoundingBox{1.5 - e, -e, -e, 2.2 + e, 1.2 + e, e};
Physical Surface("collector") = Surface In BoundingBox{-e, -e, 2 - e, 3 + e, 2 + e, 2 + e};
Physical Volume("silicon") = Volume{:};

// Nodes are dense in thin boxes around the junctions, and thin out with the distance from these.
Macro Dense // number; x0, x1, y0, y1, z0, z1; distance of the nodes
    Field[number] = Box;
    Field[number].XMin = x0; Field[number].XMax = x1;
    Field[number].YMin = y0; Field[number].YMax = y1;
    Field[number].ZMin = z0; Field[number].ZMax = z1;
    Field[number].VIn = h; Field[number].VOut = 0.25; Field[number].Thickness = 0.7;
Return

h = finest; // emitter and base: below the emitter, and its two sides
number = 1; x0 = 0; x1 = 0.95; y0 = 0; y1 = 0.95; z0 = 0.25; z1 = 0.31; Call Dense;
number = 2; x0 = 0.86; x1 = 0.96; y0 = 0; y1 = 0.95; z0 = 0; z1 = 0.31; Call Dense;
number = 3; x0 = 0; x1 = 0.95; y0 = 0.86; y1 = 0.96; z0 = 0; z1 = 0.31; Call Dense;
h = 2 * finest; // base and collector
number = 4; x0 = 0; x1 = 2.5; y0 = 0; y1 = 1.7; z0 = 0.78; z1 = 0.94; Call Dense;
number = 5; x0 = 2.55; x1 = 2.75; y0 = 0; y1 = 1.8; z0 = 0; z1 = 0.85; Call Dense;
number = 6; x0 = 0; x1 = 2.6; y0 = 1.75; y1 = 1.9; z0 = 0; z1 = 0.85; Call Dense;
Field[7] = Min;
Field[7].FieldsList = {1, 2, 3, 4, 5, 6};
Background Field = 7;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
Mesh.Algorithm3D = 1; // Delaunay, without optimization: required by control volumes (domain.c)
Mesh.Optimize = 0;
