// SPDX-License-Identifier: MIT

extension Limits {
    /// Checks the size and the bytes that a result of `size` is going to have.
    func check(result size: PixelSize, format: PixelFormat) throws(ImageError) {
        try check(size: size)
        let (bytes, overflow) = (format.bytesPerRow(width: size.width) ?? .max)
            .multipliedReportingOverflow(by: size.height)
        guard !overflow, bytes <= maxDecodedBytes else {
            throw .limit(LimitError(.decodedBytes, limit: maxDecodedBytes, actual: overflow ? .max : bytes))
        }
    }
}

extension PixelCanvas {
    /// Clears what lies between the last pixel of each row and the next row.
    borrowing func clearPadding() {
        let used = size.width * format.bytesPerPixel
        guard used < bytesPerRow else { return }
        for row in 0..<size.height {
            (baseAddress + row * bytesPerRow + used)
                .initializeMemory(as: UInt8.self, repeating: 0, count: bytesPerRow - used)
        }
    }
}

/// Checks the parameters of one transformer.
struct ParameterCheck {
    let transformer: String

    /// `value` × `factor`, finite, positive (or zero where allowed) and at most 2^30, which is beyond every limit
    /// and far inside what Int and Double hold exactly.
    func length(
        _ value: Double, _ parameter: String, times factor: Double = 1, allowsZero: Bool = false
    ) throws(ImageError) -> Double {
        let result = value * factor
        guard result.isFinite, result <= 1_073_741_824, result > 0 || (allowsZero && result == 0) else {
            throw invalid(parameter, "\(value)")
        }
        return result
    }

    /// `value` × `factor`, finite and within ±2^30.
    func place(_ value: Double, _ parameter: String, times factor: Double) throws(ImageError) -> Double {
        let result = value * factor
        guard result.isFinite, abs(result) <= 1_073_741_824 else { throw invalid(parameter, "\(value)") }
        return result
    }

    /// `value`, not NaN and within `range`.
    func number(
        _ value: Double, _ parameter: String, in range: ClosedRange<Double>
    ) throws(ImageError) -> Double {
        guard range.contains(value) else { throw invalid(parameter, "\(value)") }
        return value
    }

    func invalid(_ parameter: String, _ value: String) -> ImageError {
        .transform(.invalidParameter(transformer: transformer, parameter: parameter, value: value))
    }
}
