"""The package of kdl_parser_py, whose functions stand in `kdl_parser_py.urdf`."""
