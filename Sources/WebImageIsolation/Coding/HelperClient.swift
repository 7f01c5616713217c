// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import WebImageCore

/// Sends the work of one coder to the helpers.
struct HelperClient: Sendable {
    let pool: HelperPool?
    /// The reason why there is no pool, as a clause.
    let reason: String
    let kind: HelperKind
    let coder: String
    let format: ImageFormat?
    let fallback: IsolationFallback

    /// The work of the helpers, or `nil` if there are none.
    var remoteWork: RemoteWork? {
        guard pool != nil else { return nil }
        return kind == .vector ? .documents : .images
    }

    /// The work that a helper does.
    typealias Work<Result> = (HelperProcess) throws(HelperFailure) -> Result

    /// Does work in a helper, and repeats it up to two times in another helper if the helper was killed from outside.
    /// `data` is remembered if it crashes the helper, and `preferred` is the number of the helper that has the session.
    /// The memory is in bytes. `inProcess` is the same work, for coders that may work in this process.
    func run<Result>(
        _ data: @autoclosure () -> Data, preferred: UInt64? = nil, memory: Int, context: ImageProcessingContext,
        inProcess: () throws(ImageError) -> Result, _ work: Work<Result>
    ) throws(ImageError) -> Result {
        try context.checkCancellation()
        guard let pool else { return try replaced(reason, inProcess) }
        // The data of previews is joined on demand, so request it only if any data has crashed a helper.
        guard !pool.hasCrashes || !pool.hasCrashed(data()) else { throw failure("the same data has crashed it before") }
        if let suspension = pool.suspension(of: subject) { throw suspended(suspension) }
        var preferred = preferred
        for attempt in 0..<3 {
            let outcome: Swift.Result<Result, HelperFailure>
            do throws(HelperPool.Unavailable) {
                outcome = try pool.withHelper(
                    kind, preferred: preferred, memory: memory, context: context, work)
            } catch {
                switch error {
                case .image(let error): throw error
                case .helper(let reason): return try replaced(reason, inProcess)
                }
            }
            switch outcome {
            case .success(let result): return result
            case .failure(.failed(let error)): throw error
            case .failure(.violation(let reason)):
                throw crash(pool, data(), "its response violates the protocol (\(reason))")
            case .failure(.died(let signal)):
                // Other processes or the system killed the helper, or it had already ended.
                guard [0, SIGKILL, SIGTERM, SIGXCPU, SIGHUP, SIGINT].contains(signal) else {
                    throw crash(pool, data(), "the process ended with signal \(signal)")
                }
                try context.checkCancellation()
                if attempt == 2 {
                    // The data may be innocent, so it isn't remembered.
                    throw crash(pool, Data(), "the process ended with signal \(signal) three times")
                }
            }
            // The helper with the session has ended.
            preferred = nil
        }
        throw failure("the process ended")
    }

    private func replaced<Result>(
        _ reason: String, _ inProcess: () throws(ImageError) -> Result
    ) throws(ImageError) -> Result {
        guard fallback == .inProcess else {
            throw .decoding(ImageError.DecodingFailure(.isolationUnavailable(reason), format: format))
        }
        return try inProcess()
    }

    /// The name under which crashes are counted: the format, or the coder if the format isn't known.
    private var subject: String { format?.rawValue ?? coder }

    private func crash(_ pool: HelperPool, _ data: Data, _ reason: String) -> ImageError {
        pool.rememberCrash(of: data)
        pool.countCrash(of: subject)
        return failure(reason)
    }

    private func failure(_ reason: String) -> ImageError {
        .decoding(ImageError.DecodingFailure(.decoderCrashed(reason), format: format))
    }

    private func suspended(_ suspension: CrashBreakerStateMachine.Suspension) -> ImageError {
        let seconds = Int(suspension.seconds.rounded(.up))
        return .decoding(
            ImageError.DecodingFailure(
                .decoderSuspended(crashCount: suspension.crashes, seconds: seconds), format: format))
    }

    /// Returns the kind of a response that can't follow the request as a failure.
    static func unexpected(_ exchange: HelperExchange) -> HelperFailure {
        exchange.violation("the response doesn't match the request")
    }
}
