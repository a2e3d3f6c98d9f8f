// Field numbers of onnx.proto3, message by message, for the writer and the reader alike.
#pragma once

#include <cstdint>

namespace sardonyx::proto::field {

using Number = std::uint32_t;

namespace model {
inline constexpr Number kIrVersion = 1, kProducerName = 2, kProducerVersion = 3, kDomain = 4,
                        kModelVersion = 5, kDocString = 6, kGraph = 7, kOpsetImport = 8,
                        kMetadataProps = 14, kTrainingInfo = 20, kFunctions = 25;
}
namespace opset {
inline constexpr Number kDomain = 1, kVersion = 2;
}
namespace entry {  // StringStringEntryProto
inline constexpr Number kKey = 1, kValue = 2;
}
namespace graph {
inline constexpr Number kNode = 1, kName = 2, kInitializer = 5, kInput = 11, kOutput = 12,
                        kValueInfo = 13, kAnnotation = 14, kSparseInitializer = 15;
}
namespace node {
inline constexpr Number kInput = 1, kOutput = 2, kName = 3, kOpType = 4, kAttribute = 5,
                        kDomain = 7, kOverload = 8, kMetadataProps = 9;
}
namespace attribute {
inline constexpr Number kName = 1, kFloat = 2, kInt = 3, kString = 4, kTensor = 5, kGraph = 6,
                        kFloats = 7, kInts = 8, kStrings = 9, kTensors = 10, kGraphs = 11,
                        kTypeProto = 14, kTypeProtos = 15, kType = 20, kReference = 21,
                        kSparseTensor = 22, kSparseTensors = 23;
}
namespace value_info {
inline constexpr Number kName = 1, kType = 2;
}
namespace type {
inline constexpr Number kTensor = 1, kSequence = 4, kMap = 5, kOpaque = 7, kSparseTensor = 8,
                        kDenotation = 6, kOptional = 9;
inline constexpr Number kElementType = 1, kShape = 2;  // of tensor, sequence and optional types
}  // namespace type
namespace annotation {  // TensorAnnotation
inline constexpr Number kTensorName = 1, kParameters = 2;
}
namespace sparse {  // SparseTensorProto
inline constexpr Number kValues = 1, kDims = 3;
}
namespace shape {
inline constexpr Number kDim = 1, kDimValue = 1, kDimParam = 2;
}
namespace tensor {
inline constexpr Number kDims = 1, kDataType = 2, kSegment = 3, kFloatData = 4, kInt32Data = 5,
                        kStringData = 6, kInt64Data = 7, kName = 8, kRawData = 9, kDoubleData = 10,
                        kUint64Data = 11, kExternalData = 13, kDataLocation = 14;
}
namespace function {
inline constexpr Number kName = 1, kInput = 4, kOutput = 5, kAttribute = 6, kNode = 7,
                        kOpsetImport = 9, kDomain = 10, kAttributeProto = 11, kValueInfo = 12,
                        kOverload = 13;
}

}  // namespace sardonyx::proto::field

namespace sardonyx::proto {

// AttributeProto.AttributeType.
enum class AttributeType : std::uint8_t {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kTensors = 9,
  kGraphs = 10,
  kSparseTensor = 11,
  kSparseTensors = 12,
  kTypeProto = 13,
  kTypeProtos = 14,
};

inline constexpr std::uint64_t kExternalLocation = 1;  // TensorProto.DataLocation.EXTERNAL

// A protobuf message ends at 2 GB - 1: its readers count in int32.
inline constexpr std::int64_t kMessageLimit = 0x7fffffff;

}  // namespace sardonyx::proto
