// SPDX-License-Identifier: MIT

import WebImageCore

extension Result where Failure == ImageError {
    /// Creates the result of an asynchronous closure.
    package init(_ body: () async throws(ImageError) -> Success) async {
        do throws(ImageError) {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
