// SPDX-License-Identifier: MIT

extension ImageError {
    /// An error in a request itself. The error codes begin at 1002.
    public enum RequestFailure: Sendable, Hashable {
        /// 1002: A string that isn't a usable URL.
        case invalidURL(String)
        /// 1003: A URL whose scheme no loader supports.
        case unsupportedScheme(String)
        /// 1004: A length that's NaN, infinite, zero, negative, or unreasonably large.
        case invalidSize(String)
        /// 1005: A `data:` URL that can't be parsed.
        case invalidDataURL(String)
        /// 1006: A file that doesn't exist.
        case fileNotFound(path: String)
        /// 1007: A file that can't be read.
        case fileUnreadable(path: String, errno: Int32)
        /// 1008: A frame index that the image doesn't have.
        case frameNotFound(index: Int, frameCount: Int)
        /// 1009: An option whose value is out of range.
        case invalidOption(name: String, value: String)
        /// 1010: A request to a manager that was shut down.
        case managerShutDown
        /// 1011: A request that a custom interceptor rejected.
        case rejected(reason: String)
        /// 1012: A custom source that failed with its own error.
        case sourceFailed(reason: String)
        /// 1013: A request for the original data of an image that the request itself generates.
        case noOriginalData

        /// Returns an error of a custom function as an image error.
        package static func source(_ error: any Error) -> ImageError {
            switch error {
            case let error as ImageError: error
            case is CancellationError: .cancelled
            default: .request(.sourceFailed(reason: "\(error)"))
            }
        }

        /// The stable error code.
        package var code: Int {
            switch self {
            case .invalidURL: 1002
            case .unsupportedScheme: 1003
            case .invalidSize: 1004
            case .invalidDataURL: 1005
            case .fileNotFound: 1006
            case .fileUnreadable: 1007
            case .frameNotFound: 1008
            case .invalidOption: 1009
            case .managerShutDown: 1010
            case .rejected: 1011
            case .sourceFailed: 1012
            case .noOriginalData: 1013
            }
        }

        /// A message that describes the error and its remedy.
        package var message: String {
            switch self {
            case .invalidURL(let text): "“\(SecretNames.removed(from: text))” isn't a valid URL."
            case .unsupportedScheme(let scheme): "No loader supports the URL scheme “\(scheme)”."
            case .invalidSize(let text): "The size \(text) isn't valid. Use a positive, finite length."
            case .invalidDataURL(let reason): "The data URL can't be parsed: \(reason)."
            case .fileNotFound(let path): "The file \(path) doesn't exist."
            case .fileUnreadable(let path, let errno):
                "The file \(path) can't be read: \(SystemErrorMessage.text(reading: errno))."
            case .frameNotFound(let index, let count):
                "Frame \(index) doesn't exist. The image has \(count) \(count == 1 ? "frame" : "frames"), numbered from 0."
            case .invalidOption(let name, let value): "The value \(value) isn't valid for \(name)."
            case .managerShutDown: "The manager was shut down."
            case .rejected(let reason): "The request was rejected: \(reason)."
            case .sourceFailed(let reason): "The custom source failed: \(reason)."
            case .noOriginalData:
                "The request generates its image, so there is no original data. Request encoded data instead."
            }
        }
    }
}
