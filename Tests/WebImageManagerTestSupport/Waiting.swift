// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageTestSupport

extension ImageManager {
    /// Waits until `count` requests have started or joined a load.
    package func waitForLoads(_ count: Int) async {
        await untilTrue {
            let counts = statistics
            return counts.loads + counts.coalescedLoads >= count
        }
    }

    /// Waits until no jobs are running.
    package func rest() async { await untilTrue { runningJobs == 0 } }

    /// Returns the error code of a request, or `nil` if it succeeds.
    package func code(of request: ImageRequest) async -> Int? {
        do throws(ImageError) {
            _ = try await image(for: request)
            return nil
        } catch {
            return error.signedCode
        }
    }
}

extension ImageError {
    /// The code of a failure, which is negative if the failure comes from the negative cache.
    package var signedCode: Int { rememberedUntil == nil ? code : -code }
}

extension ImageTask {
    /// The number of the resulting image, or `nil` if the task fails.
    package var number: Int? {
        get async {
            do throws(ImageError) {
                return Numbered.number(of: try await image)
            } catch {
                return nil
            }
        }
    }

    /// The code of the resulting error, or `nil` if the task succeeds.
    package var code: Int? {
        get async {
            do throws(ImageError) {
                _ = try await response
                return nil
            } catch {
                return error.code
            }
        }
    }
}

/// Lets other tasks run until `condition` is `true`, for at most one second or 2,000 yields.
///
/// Use this function to wait for an event that may not occur. The time is limited because other tests can occupy the
/// processors for many milliseconds at each yield.
package func passing(_ condition: () -> Bool = { false }) async {
    let end = ContinuousClock.now + .seconds(1)
    for _ in 0..<2_000 where !condition() && .now < end { await Task.yield() }
}

/// Returns all ordered pairs of the values of a list.
package func pairs<Value: Sendable>(_ values: [Value]) -> [(Value, Value)] {
    values.flatMap { first in values.map { (first, $0) } }
}

extension URL {
    /// The URL for tests whose loader doesn't use the network.
    package static var sample: URL { URL(string: "https://images.test/a") ?? URL(filePath: "/") }
}

extension Result where Failure == ImageError {
    /// The error, or `nil` if the result is a success.
    package var failure: ImageError? {
        if case .failure(let error) = self { error } else { nil }
    }
}
