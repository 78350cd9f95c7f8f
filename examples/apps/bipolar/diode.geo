// The diode of device.c: a bar along x, its junction in the middle; lengths in um.
//   gmsh -3 -setnumber finest 0.02 diode.geo -o diode.msh
SetFactory("OpenCASCADE");
DefineConstant[finest = 0.02];   // distance of nodes at the junction

Box(1) = {0, 0, 0, 2, 0.5, 0.5};
Box(2) = {2, 0, 0, 2, 0.5, 0.5};
BooleanFragments{ Volume{1}; Delete; }{ Volume{2}; Delete; }

e = 1e-3;
Physical Surface("anode") = Surface In BoundingBox{-e, -e, -e, e, 1, 1};
Physical Surface("cathode") = Surface In BoundingBox{4 - e, -e, -e, 4 + e, 1, 1};
Physical Volume("silicon") = Volume{:};

Field[1] = MathEval;
Field[1].F = Sprintf("%g + 0.15 * abs(x - 2)", finest);
Background Field = 1;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
Mesh.Algorithm3D = 1; // Delaunay, without optimization: required by control volumes (domain.c)
Mesh.Optimize = 0;
