// SPDX-License-Identifier: MIT

extension ImageLimits {
    /// Checks the size in pixels and in bytes of a future result.
    package func check(result size: PixelSize, format: PixelFormat) throws(ImageError) {
        try check(size)
        let (bytes, overflow) = (format.bytesPerRow(width: size.width) ?? .max)
            .multipliedReportingOverflow(by: size.height)
        guard !overflow, bytes <= maxDecodedBytes else {
            throw .limitExceeded(
                ImageError.LimitFailure(.decodedSize, limit: maxDecodedBytes, actual: overflow ? .max : bytes))
        }
    }
}

extension PixelCanvas {
    borrowing func clearPadding() {
        let used = size.width * format.bytesPerPixel
        guard used < bytesPerRow else { return }
        for row in 0..<size.height {
            (baseAddress + row * bytesPerRow + used)
                .initializeMemory(as: UInt8.self, repeating: 0, count: bytesPerRow - used)
        }
    }
}

/// A validator for the parameters of one transformer.
struct ParameterValidator {
    let transformer: String

    /// Returns `value` × `factor` if it's finite, positive (or zero, if allowed), and at most 2^30. This bound exceeds
    /// every limit, and Int and Double represent it exactly.
    func length(
        _ value: Double, _ parameter: String, times factor: Double = 1, allowsZero: Bool = false
    ) throws(ImageError) -> Double {
        let result = value * factor
        guard result.isFinite, result <= 1_073_741_824, result > 0 || (allowsZero && result == 0) else {
            throw invalid(parameter, "\(value)")
        }
        return result
    }

    /// Returns `value` × `factor` if it's finite and within ±2^30.
    func position(_ value: Double, _ parameter: String, times factor: Double) throws(ImageError) -> Double {
        let result = value * factor
        guard result.isFinite, abs(result) <= 1_073_741_824 else { throw invalid(parameter, "\(value)") }
        return result
    }

    /// Returns `value` if it isn't NaN and is within `range`.
    func number(
        _ value: Double, _ parameter: String, in range: ClosedRange<Double>
    ) throws(ImageError) -> Double {
        guard range.contains(value) else { throw invalid(parameter, "\(value)") }
        return value
    }

    func invalid(_ parameter: String, _ value: String) -> ImageError {
        .processing(.invalidParameter(transformer: transformer, parameter: parameter, value: value))
    }
}
