// SPDX-License-Identifier: MIT

import Foundation
import WebImageCodecs
import WebImageCore
import WebImageIsolation

extension ImageManager.Configuration {
    /// The isolation of the coders in helper processes.
    ///
    /// Most codec libraries are written in languages without memory safety, and they parse data from strangers. A helper
    /// process has no network, no files, and a limited set of system calls. If a library crashes there, only the request
    /// fails, with the reason ``ImageError/DecodingFailure/Reason/decoderCrashed(_:)``. Custom coders always work in the
    /// process of the application.
    ///
    /// The helper is the program `webimage-decoder`. SwiftPM builds it with your program and in the same directory. If you
    /// install your program elsewhere, install the helper next to it.
    public struct Decoding: Sendable, Hashable {
        /// The use of helper processes.
        public enum Isolation: Sendable, Hashable {
            /// All coders work in the process of the application.
            case off
            /// The coders of SVG, PDF, AVIF, HEIF, JPEG XL, TIFF, JPEG 2000, and ICNS work in helper processes, and with
            /// ``Decoding/isolatesAllFormats`` those of all formats.
            ///
            /// If no helper is installed, the coders of images made of pixels work in the process of the application.
            /// SVG and PDF from the network fail with
            /// ``ImageError/DecodingFailure/Reason/isolationUnavailable(_:)``, and with
            /// ``Decoding/isolatesAllFormats`` those from files, too.
            case auto
            /// All coders work in helper processes. If no helper is installed, images of all formats fail with
            /// ``ImageError/DecodingFailure/Reason/isolationUnavailable(_:)``.
            case required
        }

        /// The use of helper processes. The default is ``Isolation/auto``.
        public var isolation = Isolation.auto
        /// A Boolean value that indicates whether the coders of all formats work in helper processes.
        ///
        /// Otherwise, the coders of JPEG, PNG, GIF, WebP, BMP, ICO, QOI, Netpbm, and camera RAW files work in the process
        /// of the application. The default is `false`, and `true` in ``ImageManager/Configuration/server``.
        public var isolatesAllFormats = false
        /// The absolute path of the helper.
        ///
        /// The default is `nil`. In this case, the library searches for `webimage-decoder` in the directory of the
        /// program, in `../libexec/webimage` next to that directory, in `/usr/local/libexec/webimage`, and in
        /// `/usr/libexec/webimage`. Last, it uses the environment variables `WEBIMAGE_DECODER` and `PATH`, unless the
        /// program has more privileges than its caller.
        public var helperPath: String?
        /// The maximum number of helper processes, which is at least 1. All managers with the same settings share them.
        /// The default is one per active processor core, up to 8.
        public var maxHelpers = min(8, ProcessInfo.processInfo.activeProcessorCount)
        /// The maximum memory that all helper processes use together for their work, in bytes, or `nil` for half of the
        /// memory of the machine or of its container. The default is `nil`.
        ///
        /// Each request may use as much memory as an image of its declared size can need, and at most this limit. A
        /// request waits while the other requests leave too little. Requests that need at most a 32nd of the limit don't
        /// count. In addition, each helper needs about 15 MiB.
        public var helperMemoryLimit: Int?
        /// The number of requests after which a helper is replaced. The default is 500.
        public var recycleAfter = 500

        /// Creates the default settings.
        public init() {}
    }
}

/// The coders that do the work of a manager.
package struct IsolatedCoders: Sendable {
    /// The coders for data from the network.
    package let network: ImageCoderRegistry
    /// The coders for files and for data of the application.
    package let local: ImageCoderRegistry

    fileprivate init(network: ImageCoderRegistry, local: ImageCoderRegistry) {
        self.network = network
        self.local = local
    }

    /// Creates the coders that a manager with a configuration uses instead of `coders`.
    package init(_ coders: ImageCoderRegistry, as configuration: ImageManager.Configuration) {
        self = CoderIsolation(configuration).isolating(coders)
    }
}

extension ImageManager.Configuration {
    /// Starts the first helper process of managers with this configuration, so that their first image doesn't wait for
    /// its start. This method returns immediately.
    package func startHelper() { CoderIsolation(self).startHelper() }

    /// The reason why no helper process decodes images, as a clause, or `nil` if there's a helper or isolation is off.
    package var missingHelperReason: String? {
        guard decoding.isolation != .off else { return nil }
        let helper = HelperLocation.find(decoding.helperPath)
        return helper.path == nil ? helper.reason : nil
    }
}

/// The isolation of the coders, as a configuration demands it.
struct CoderIsolation: Sendable {
    private let policy: IsolationPolicy?
    private let trustsLocalVectors: Bool

    init(_ configuration: ImageManager.Configuration) {
        let settings = configuration.decoding
        trustsLocalVectors = !settings.isolatesAllFormats
        guard settings.isolation != .off else {
            policy = nil
            return
        }
        let helper = HelperLocation.find(settings.helperPath)
        let pool = helper.path.map { path in
            HelperPool.shared(
                HelperPool.Configuration(
                    path: path, maxHelpers: settings.maxHelpers, recycleAfter: settings.recycleAfter,
                    memoryBudget: settings.helperMemoryLimit ?? SystemMemory.limit() / 2))
        }
        policy = IsolationPolicy(
            pool: pool, reason: helper.reason, isolatesAllFormats: settings.isolatesAllFormats,
            isRequired: settings.isolation == .required)
    }

    /// Starts a helper for images of the common formats, unless they're decoded in this process.
    func startHelper() {
        guard let policy, policy.isolatesAllFormats else { return }
        policy.pool?.prepare(.core)
    }

    func isolating(_ coders: ImageCoderRegistry) -> IsolatedCoders {
        guard var policy else { return IsolatedCoders(network: coders, local: coders) }
        let network = coders.isolated(by: policy, builtIn: .standard)
        policy.trustsVectors = trustsLocalVectors
        return IsolatedCoders(network: network, local: coders.isolated(by: policy, builtIn: .standard))
    }
}
