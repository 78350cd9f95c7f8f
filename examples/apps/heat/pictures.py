"""pictures.py FILE.e DIRECTORY   Draw two pictures of a run of heat, with pvpython.

heat-temperature.png   the surface at three times, with the edges of elements
heat-inside.png        a section at the last time

SPDX-License-Identifier: BSD-3-Clause"""
import sys

from paraview.simple import (Clip, ColorBy, CreateView, ExodusIIReader, ForceTime, GetColorTransferFunction, GetScalarBar,
                             MergeBlocks, Render, SaveScreenshot, Show, Text, Transform)

path, out = sys.argv[1:3]
reader = ExodusIIReader(FileName=[path])
reader.UpdatePipelineInformation()
reader.PointVariables = list(reader.GetProperty("PointVariables").Available)
reader.ElementVariables = list(reader.GetProperty("ElementVariables").Available)
times = list(reader.TimestepValues)
reader.UpdatePipeline(times[-1])
low, high = reader.PointData["temperature"].GetRange()
colours = GetColorTransferFunction("temperature")
colours.ApplyPreset("Inferno (matplotlib)", True)
colours.RescaleTransferFunction(low, high)


def view(width, height):
    v = CreateView("RenderView")
    v.ViewSize = [width, height]
    v.Background = [1, 1, 1]
    v.UseColorPaletteForBackground = 0
    v.OrientationAxesVisibility = 0
    return v


def legend(v, shown, where):
    bar = GetScalarBar(colours, v)
    bar.Title, bar.ComponentTitle = "temperature", ""
    bar.TitleColor = bar.LabelColor = [0, 0, 0]
    bar.Orientation, bar.WindowLocation = "Vertical", "Any Location"
    bar.Position, bar.ScalarBarLength = [where, 0.25], 0.5
    bar.AutomaticLabelFormat, bar.LabelFormat, bar.RangeLabelFormat = 0, "%.0f", "%.0f"
    shown.SetScalarBarVisibility(v, True)


def look(v, centre, size):
    Render(v)  # the first call resets the camera
    v.CameraFocalPoint = centre
    v.CameraPosition = [centre[0] - 0.8, centre[1] - 4, centre[2] + 2.5]
    v.CameraViewUp = [0, 0, 1]
    v.CameraParallelProjection = 1
    v.CameraParallelScale = size


# Show the surface at three times, side by side.
surface = view(900, 360)
for k, step in enumerate((1, len(times) // 3, len(times) - 1)):
    one = ExodusIIReader(FileName=[path])
    one.PointVariables = ["temperature"]
    one.UpdatePipeline(times[step])
    kept = ForceTime(Input=one)
    kept.ForcedTime = times[step]
    moved = Transform(Input=kept)
    moved.Transform.Translate = [2.4 * k, 0, 0]
    shown = Show(moved, surface)
    shown.Representation = "Surface With Edges"
    shown.EdgeColor = [0.35, 0.35, 0.35]
    shown.Ambient, shown.Diffuse = 0.4, 0.7
    ColorBy(shown, ("POINTS", "temperature"))
    label = Text(Text=f"t = {times[step]:.3f}")
    mark = Show(label, surface)
    mark.WindowLocation, mark.Position, mark.Color, mark.FontSize = "Any Location", [0.12 + 0.29 * k, 0.06], [0, 0, 0], 14
legend(surface, shown, 0.9)
look(surface, [3.75, 0.5, 0.3], 1.65)
SaveScreenshot(f"{out}/heat-temperature.png", surface, ImageResolution=[900, 360], CompressionLevel="9")

inside = view(700, 400)
inside.ViewTime = times[-1]
half = Clip(Input=MergeBlocks(Input=reader))
half.ClipType.Origin, half.ClipType.Normal = [1, 0.5, 0.5], [0, -1, 0]
shown = Show(half, inside)
shown.Representation = "Surface With Edges"
shown.EdgeColor = [0.35, 0.35, 0.35]
shown.Ambient, shown.Diffuse = 0.4, 0.7
ColorBy(shown, ("POINTS", "temperature"))
legend(inside, shown, 0.86)
look(inside, [1.1, 0.5, 0.5], 0.85)
SaveScreenshot(f"{out}/heat-inside.png", inside, ImageResolution=[700, 400], CompressionLevel="9")
