"""Every code that a problem may have: its levels, what it means, and how to mend it.

Most of them are printed by ``linkwork check``; the last sections hold those of other commands and
of Python.

docs/check.md lists this table; a test compares it with the page and with what the code reports.
"""

from __future__ import annotations

from typing import NamedTuple


class Code(NamedTuple):
    """One row: ``levels`` are those that it is reported with, the worse first."""

    code: str
    levels: str
    meaning: str
    mend: str


_FILE = (
    Code("no-file", "error", "There is no such file.", "Mind the folder that you are in."),
    Code("not-a-file", "error", "A folder, pipe or device.", "Name a file."),
    Code("unreadable", "error", "The system does not let the file be read.", "See its reason."),
    Code("file-size", "error", "The file has more than 256 MB.", "Split it."),
    Code("compressed", "error", "The file is an archive.", "Unpack it first."),
    Code("encoding", "error", "Not text in the encoding it declares.", "Save it as UTF-8."),
    Code("xml", "error", "The XML is not well formed; nothing is guessed.", "See the column."),
    Code("doctype", "error", "A document type could define entities.", "Remove it."),
    Code("xinclude", "error", "XInclude is not followed.", "Put the text into the file."),
    Code(
        "declaration",
        "warning",
        "White space before the XML declaration: read as if it were behind.",
        "Put the declaration first.",
    ),
    Code(
        "undeclared-prefix",
        "warning",
        "A name space that is declared nowhere: what has it is kept, not used.",
        "Declare it on `<robot>`.",
    ),
    Code("root", "error", "The outermost element is not `<robot>`.", "Is it a URDF?"),
    Code("too-deep", "error", "Elements nested deeper than 256.", "Flatten them."),
    Code("too-long", "error", "A name, text, tag or comment beyond its limit.", "Shorten it."),
    Code("too-many", "error", "More elements or attributes than are read.", "Remove some."),
    Code("more", "error, note", "More than 10,000 problems; so many are not listed.", "Mend some."),
    Code("unsupported", "error", "A format that is not read.", "Convert it to URDF."),
    Code("missing-extra", "error", "An optional package is needed.", "Install what it names."),
)

_STRUCTURE = (
    Code("no-link", "error", "There is no link.", "A robot has one at least."),
    Code("duplicate-link", "error", "Two links of one name.", "Rename one."),
    Code("duplicate-joint", "error", "Two joints of one name.", "Rename one."),
    Code("duplicate-transmission", "warning", "Two transmissions of one name.", "Rename one."),
    Code("unknown-link", "error", "A joint's parent or child is not there.", "Mind the spelling."),
    Code("same-link", "error", "A joint's parent is its child.", "Name another link."),
    Code("two-parents", "error", "A link hangs on two joints.", "URDF is a tree: cut the loop."),
    Code("several-roots", "error", "Links that nothing connects.", "Join them to the root."),
    Code("cycle", "error", "Links that hang on each other in a circle.", "Cut it at one joint."),
    Code("misplaced", "error", "A link or joint inside another element.", "Move it to `<robot>`."),
    Code(
        "doubled",
        "error, warning",
        "A part that may stand once stands twice; an error where poses depend on it.",
        "Leave one.",
    ),
    Code(
        "missing-element",
        "error, warning",
        "A part that must be there is not; an error where the tree depends on it.",
        "Add it.",
    ),
    Code(
        "mjcf-size",
        "warning",
        "A shape of size zero is not written to MJCF: MuJoCo refuses such ones.",
        "Give it its size, or leave it out.",
    ),
    Code(
        "missing-mass",
        "warning",
        "An `<inertial>` without a value of `<mass>`: it is unknown, and what needs it raises.",
        "Say it, or leave out the `<inertial>`.",
    ),
    Code(
        "missing-inertia",
        "warning",
        "An `<inertial>` without a whole `<inertia>`: it is unknown; dynamics of the link raise.",
        "Say it, or leave out the `<inertial>`.",
    ),
    Code(
        "missing-attribute",
        "error, warning",
        "An attribute that must be there is not; an error where the tree depends on it.",
        "Add it.",
    ),
    Code("version", "warning", "A version of URDF that is not known; read as 1.0.", 'Use "1.0".'),
)

_NAMES = (
    Code("empty-name", "error", "A name is empty.", "Give one."),
    Code("odd-name", "warning", "Control characters, or white space around a name.", "Remove it."),
    Code(
        "reserved-name",
        "note",
        "White space, `/`, `::` or `__...__`, which ROS and Gazebo read in their own way.",
        "Use letters, digits and single underscores.",
    ),
    Code(
        "unknown-element",
        "warning, note",
        "URDF has no such element here; kept, not used. A warning where it looks like a slip.",
        "Mind the spelling, or leave it to the program that it is for.",
    ),
    Code(
        "unknown-attribute",
        "warning, note",
        "URDF has no such attribute here; kept, not used. A warning where it looks like a slip.",
        "Mind the spelling, or remove it.",
    ),
    Code("stray-text", "warning", "Text that belongs to no element.", "Remove it."),
    Code(
        "gazebo-reference",
        "warning",
        "`<gazebo reference>` names what is no link or joint.",
        "Mind the spelling; unexpanded templates show up here.",
    ),
)

_NUMBERS = (
    Code(
        "number",
        "error, warning",
        "Not a plain decimal number; a warning in colours and scales.",
        "No commas, units or expressions.",
    ),
    Code("not-finite", "error", "nan, infinite, or too large for a number.", "Write a number."),
    Code(
        "count",
        "error, warning",
        "Too many or too few numbers; a warning in colours and scales.",
        "See how many are needed.",
    ),
    Code("too-large", "error", "Poses would overflow: beyond 1e100.", "Write the true length."),
    Code("range", "warning", "A size, effort, colour, ... outside its range.", "See the range."),
    Code(
        "degree-angles",
        "warning",
        "rpy beyond a whole turn: degrees?",
        "Radians; 90 degrees are 1.5707963267948966.",
    ),
    Code(
        "rounded-angles",
        "note",
        "Right angles written as 1.57 or 3.14; said once for a file. 3.14 bends by 1.6 mm a metre.",
        "Write all digits.",
    ),
    Code("far-origin", "warning", "An origin more than 20 m away: millimetres?", "Metres."),
)

_JOINTS = (
    Code("joint-type", "error", "No type that URDF has.", "See the list."),
    Code("zero-axis", "error", "The axis of a joint that moves is zero.", "Give a direction."),
    Code("no-axis", "note", "No `<axis>` where one counts: 1 0 0 is taken.", "Write it."),
    Code("axis-length", "warning", "The axis has not length 1; its direction counts.", "Scale it."),
    Code("missing-limits", "warning", "A bound is missing: unlimited.", "Add it."),
    Code("reversed-limits", "warning", "`lower` is above `upper`.", "Swap them."),
    Code("huge-limits", "warning", "Limits beyond 1e100.", "Leave them out for no limit."),
    Code("unused-limits", "warning", "Bounds on a joint that has none.", "Is it revolute?"),
    Code("zero-range", "note", "Both bounds are the same.", "Make it fixed."),
    Code(
        "degree-limits",
        "warning",
        "Revolute, and bounds are whole numbers from 30 on, other than 100, 1000: degrees?",
        "Radians.",
    ),
    Code("millimetre-limits", "warning", "A slider longer than 20 m: millimetres?", "Metres."),
    Code("zero-effort", "note", "The largest effort is 0.", "Write the true one."),
    Code("zero-velocity", "note", "The largest velocity is 0.", "Write the true one."),
    Code("soft-limits", "warning", "Soft limits reversed or outside the limits.", "Move inside."),
)

_COUPLINGS = (
    Code("mimic-unknown", "error", "The joint to follow does not exist.", "Mind the spelling."),
    Code("mimic-self", "error", "A joint follows itself.", "Name its leader."),
    Code("mimic-cycle", "error", "Joints follow each other in a circle.", "One must lead."),
    Code("mimic-leader", "error", "The leader has no single position.", "Follow another joint."),
    Code("mimic-type", "error", "The follower has no single position.", "Use a hinge or slider."),
    Code("fixed-follower", "warning", "A fixed joint follows: no effect.", "Remove `<mimic>`."),
    Code("mimic-zero", "warning", "The multiplier is 0: it never moves.", "Make it fixed."),
    Code(
        "follower-limits",
        "warning",
        "The follower's limits leave its leader nothing, or one position; they are not counted.",
        "Mend them.",
    ),
    Code(
        "narrowed-leader",
        "warning, note",
        "The follower's limits cut off some of the leader's range; a warning where nearly all.",
        "Make both agree.",
    ),
)

_MASSES = (
    Code("mass", "warning", "A negative mass, or inertia without mass.", "Give the true mass."),
    Code("inertia", "warning", "Zero with a mass, or not positive definite.", "Compute it anew."),
    Code(
        "triangle",
        "warning",
        "A principal moment above the sum of the others: no body has that.",
        "Compute it anew; are two entries swapped?",
    ),
    Code(
        "massless",
        "warning",
        "A joint moves nothing that has a mass: dynamics has no solution.",
        "Give an `<inertial>`, or make it fixed.",
    ),
    Code("no-masses", "note", "No link has a mass: kinematics only.", "Give `<inertial>`s."),
    Code(
        "com-outside",
        "warning",
        "The centre of mass is farther outside the link's shapes than they are wide.",
        "Metres, in the link's frame.",
    ),
    Code(
        "large-inertia",
        "warning",
        "For this inertia the mass would have to lie outside the link's shapes.",
        "kg m², about the centre of mass; place holders such as 1 or 0.001 show up here.",
    ),
    Code(
        "small-inertia",
        "warning",
        "For this inertia all mass would lie within a hundredth of the link's size.",
        "kg m².",
    ),
    Code("dense", "warning", "The link would be denser than osmium.", "Kilograms; metres."),
)

_LOOKS = (
    Code("material-differs", "warning", "One name, two looks; the first counts.", "Rename one."),
    Code("material-undefined", "warning", "No colour or texture for this name.", "Define it."),
    Code("material-name", "warning", "A shared material without a name.", "Give one."),
    Code("material-unused", "note", "Nothing uses this material.", "Remove it."),
    Code("invisible", "note", "A visual whose material is transparent.", "Alpha is 1 for opaque."),
)

_TRANSMISSIONS = (
    Code("transmission-type", "warning", "No `<type>`.", "Add it."),
    Code("transmission-parts", "warning", "No `<joint>`, or no `<actuator>`.", "Add it."),
    Code("transmission-joint", "warning", "Its joint does not exist.", "Mind the spelling."),
    Code("transmission-fixed", "warning", "Its joint is fixed.", "Remove it, or free the joint."),
    Code("transmission-reduction", "warning", "Not a number other than 0.", "Write the ratio."),
)

_MESHES = (
    Code("mesh-missing", "warning", "There is no such mesh.", "See where it was looked for."),
    Code(
        "mesh-outside",
        "warning",
        "The mesh lies outside the description's package, where it is not read unasked.",
        "`--allow FOLDER`, or move it.",
    ),
    Code("mesh-name", "warning", "A name that is refused: `~`, `$`, `http:`.", "Write a path."),
    Code("mesh-suffix", "warning", "No mesh by the end of its name.", "Convert it."),
    Code("mesh-broken", "warning", "The mesh cannot be read, or is empty.", "Export it anew."),
    Code("mesh-looks", "note", "A material or texture of the mesh is not read.", "See why."),
    Code("mesh-unchecked", "note", "A package for such meshes is missing.", "Install it."),
    Code(
        "mesh-units",
        "warning",
        "Longer than 20 m unscaled, or smaller than a millimetre when scaled: millimetres?",
        "Mend the scale.",
    ),
    Code("texture-missing", "warning", "There is no such image.", "See where it was looked for."),
    Code("texture-outside", "warning", "As mesh-outside.", "`--allow FOLDER`, or move it."),
    Code("texture-name", "warning", "As mesh-name.", "Write a path."),
    Code("texture-suffix", "warning", "No image by the end of its name.", "Convert it."),
    Code("texture-broken", "warning", "The image is not what it says.", "Export it anew."),
)

_XACRO = (
    Code(
        "xacro",
        "error, warning",
        "The xacro package refuses or warns; or a xacro element is left in a URDF, and not used.",
        "Where such elements are to say something, expand the file with `linkwork convert`.",
    ),
    Code(
        "xacro-argument",
        "error, warning",
        "An argument without a value; as a warning, one that the file does not ask for.",
        "`--arg NAME:=VALUE`.",
    ),
    Code("xacro-environment", "error", "A variable was not given.", "`--env NAME=VALUE`."),
    Code("xacro-package", "error", "A package of `$(find)` is not there.", "`--allow FOLDER`."),
    Code(
        "xacro-file",
        "error",
        "An included file is not there, too large, or outside the folders that may be read.",
        "`--allow FOLDER`, or mind the name.",
    ),
    Code(
        "xacro-expression",
        "error",
        "An expression uses what leads out of expressions, or grows too large.",
        "Write it with plain values and their methods.",
    ),
    Code("xacro-forbidden", "error", "It writes, starts programs, or connects.", "Do not use it."),
    Code("xacro-recursion", "error", "Macros or includes go too deep.", "Does one use itself?"),
    Code("xacro-time", "error", "It takes more than 60 s.", "Does a macro ever end?"),
    Code("xacro-memory", "error", "It takes more memory than 1 GB.", "Shorten lists and texts."),
    Code("xacro-size", "error", "The URDF has more than 64 MB.", "Shorten it."),
    Code("xacro-process", "error", "The process that expands it died.", "See its last words."),
)

_LOOPS = (
    Code("yaml", "error", "The text is no YAML, or more than plain tables.", "See the line."),
    Code("loops", "error", "An entry that does not fit, or names what is not there.", "See it."),
    Code("loops-open", "warning", "No position was found that closes the loops.", "Mind frames."),
    Code("other-joint", "note", "A joint is another one than the URDF says.", "Nothing to do."),
)
_MJCF = (
    Code("mjcf", "error, note", "What MuJoCo says of the file.", "See its words."),
    Code("include", "error", "A file name that is refused.", "Name an .xml file by a path."),
    Code("included-twice", "error", "A file that is included already.", "Include it once."),
    Code("outside", "error", "A file outside the description's folders.", "`--allow FOLDER`."),
    Code("name", "error", "Characters that no name can have.", "Remove them."),
    Code(
        "mesh-mass",
        "error",
        "A mass follows from a mesh that cannot be read.",
        "Give an `<inertial>`, or bring the mesh.",
    ),
    Code("mocap", "warning", "A mocap body stays where it was described.", "Use a free joint."),
    Code("no-equality", "warning", "A coupling or loop that is not read.", "Its joints are free."),
    Code("inactive", "note", "An equality that is not active is not read.", "Nothing to do."),
    Code("rigid-equality", "note", "It holds what cannot move.", "Nothing to do."),
    Code("mocap-equality", "note", "What holds a mocap body is not read.", "Nothing to do."),
    Code("no-deformable", "warning", "Soft bodies are not read.", "Nothing to do."),
    Code(
        "no-actuator", "note", "An actuator that drives no single joint.", "Say `actuate([...])`."
    ),
    Code("no-tendon", "note", "Tendons along sites are not read.", "Nothing to do."),
    Code("no-contact", "note", "Contact pairs are not read.", "Nothing to do."),
    Code("no-sensor", "note", "Sensors are not read.", "Nothing to do."),
    Code("no-keyframe", "note", "Something in a keyframe is not read.", "Nothing to do."),
    Code("no-camera", "note", "Cameras are not read.", "Nothing to do."),
    Code("no-plugin", "note", "Plugins are not run.", "Nothing to do."),
    Code("no-custom", "note", "Custom data is not read.", "Nothing to do."),
    Code("no-gravity", "note", "Another gravity is not read.", "Pass it where it is needed."),
    Code("no-gravcomp", "note", "Compensation of gravity is not read.", "Nothing to do."),
    Code("no-stiffness", "note", "Springs are not read.", "Add them yourself."),
    Code("no-damping", "note", "Damping beyond the linear part is not read.", "Add it yourself."),
    Code("no-effort", "note", "A range of forces that is not symmetric.", "Mind it yourself."),
    Code(
        "no-angle",
        "note",
        "A limit that leaves a ball joint no angle.",
        "Give the range its angle.",
    ),
    Code("unnamed", "note", "Elements without a name get a number.", "Name them."),
)

_CONVERT = (
    Code("mujoco", "error, note", "What MuJoCo says of a URDF that it compiles.", "See the hint."),
    Code("mujoco-shell", "note", "A mesh without a volume is a shell for MuJoCo.", "Close it."),
    Code("mjcf-lost", "note", "What the MJCF does not have.", "Add it by hand if it is needed."),
    Code(
        "mjcf-loops",
        "warning",
        "A loop, coupling or motor that MuJoCo has no equality or actuator for is left out.",
        "Write it another way, as points or polynomials.",
    ),
    Code(
        "mjcf-inertia",
        "warning",
        "An inertia that no body has is replaced by the nearest one that MuJoCo takes.",
        "Compute it anew.",
    ),
    Code("mjcf-mesh", "note", "Meshes are written anew, without colours.", "Nothing to do."),
    Code("mjcf-digits", "note", "MuJoCo writes six digits.", "Nothing to do."),
)

_EDITS = (
    Code("name-left", "warning", "An edit left an old name in kept XML.", "Change it there."),
    Code(
        "frame-moved",
        "warning",
        "An edit moved a link's frame, and poses in kept XML are still those of the old one.",
        'Change them, or reroot with `frames="keep"`.',
    ),
)

_RECORDS = (
    Code("type", "error", "A value of another type than the field has.", "See the type."),
    Code("missing", "error", "A field that the text needs is None.", "Give a value."),
    Code("character", "error", "A character that XML cannot hold.", "Remove it."),
    Code("white-space", "error", "White space that would not read back.", "Remove it."),
    Code("symmetric", "error", "An inertia that is not symmetric.", "Write (m + m.T) / 2."),
    Code("extra", "error", "The text of an unknown element is not that one.", "Mend the XML."),
    Code("known", "error", "URDF's own element among the unknown ones.", "Make it a record."),
    Code("twice", "error", "An unknown attribute stands twice.", "Remove one."),
    Code("within", "error", "A comment inside what is not there.", "Put it elsewhere."),
    Code("comment", "error", "A comment that XML cannot hold.", "No two hyphens."),
    Code("json", "error", "A text that is no saved mechanism.", "Write it with `to_json`."),
    Code("duplicate-name", "error", "Two parts of one name.", "Rename one."),
    Code("missing-link", "error", "A joint without parent or child.", "Name it."),
    Code("unknown-leader", "error", "The joint to follow does not exist.", "Mind the spelling."),
    Code("fixed-leader", "error", "The joint to follow is fixed.", "Follow another one."),
    Code("duplicate-material", "error", "Two materials of one name, for urdfpy.", "Rename one."),
)

SECTIONS: dict[str, tuple[Code, ...]] = {
    "Files": _FILE,
    "Structure": _STRUCTURE,
    "Names and elements": _NAMES,
    "Numbers": _NUMBERS,
    "Joints": _JOINTS,
    "Couplings": _COUPLINGS,
    "Masses": _MASSES,
    "Looks": _LOOKS,
    "Transmissions": _TRANSMISSIONS,
    "Meshes": _MESHES,
    "Xacro": _XACRO,
    "Loops": _LOOPS,
    "MJCF": _MJCF,
    "Converting to MJCF (`linkwork convert`)": _CONVERT,
    "Edits": _EDITS,
    "Records and mechanisms made in code": _RECORDS,
}
"""The codes by the heading that they stand under."""

CODES: dict[str, Code] = {row.code: row for rows in SECTIONS.values() for row in rows}
"""The codes by themselves."""
