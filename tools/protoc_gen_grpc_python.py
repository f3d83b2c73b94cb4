"""A plugin of buf and protoc that writes gRPC service stubs with the generator built into grpcio-tools.

It reads a CodeGeneratorRequest and writes a CodeGeneratorResponse, as every plugin does. Files without a service get no
stub: grpcio-tools would write an empty module for each.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from google.protobuf.compiler.plugin_pb2 import CodeGeneratorRequest, CodeGeneratorResponse
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_tools import protoc


def stubs(request: CodeGeneratorRequest) -> CodeGeneratorResponse:
    """The stubs of the request's files that have services, or what is wrong."""
    wanted = set(request.file_to_generate)
    names = [file.name for file in request.proto_file if file.name in wanted and file.service]
    answer = CodeGeneratorResponse(supported_features=CodeGeneratorResponse.FEATURE_PROTO3_OPTIONAL)
    if not names:
        return answer
    with tempfile.TemporaryDirectory() as folder:
        image, out = Path(folder, "image.binpb"), Path(folder, "out")
        image.write_bytes(FileDescriptorSet(file=request.proto_file).SerializeToString())
        out.mkdir()
        arguments = ["protoc", f"--descriptor_set_in={image}", f"--grpc_python_out={out}", *names]
        if protoc.main(arguments):
            answer.error = f"grpc_tools.protoc could not write the stubs of {', '.join(names)}; it says why above"
            return answer
        for path in sorted(out.rglob("*.py")):
            answer.file.add(name=path.relative_to(out).as_posix(), content=path.read_text(encoding="utf-8"))
    return answer


if __name__ == "__main__":
    request = CodeGeneratorRequest.FromString(sys.stdin.buffer.read())
    sys.stdout.buffer.write(stubs(request).SerializeToString())
