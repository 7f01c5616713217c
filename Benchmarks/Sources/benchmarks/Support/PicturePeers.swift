// SPDX-License-Identifier: MIT

import Foundation

/// An image library that's measured through Python.
enum PeerLibrary: String {
    case pillow = "Pillow"
    case openCV = "OpenCV"
    case libvips

    /// The name of its module in `Benchmarks/Peers`.
    var module: String {
        switch self {
        case .pillow: "pillow"
        case .openCV: "opencv"
        case .libvips: "vips"
        }
    }

    /// Reports that the comparison with the library is skipped.
    func skip(_ reason: String, in suite: String) {
        FileHandle.standardError.write(Data("\(suite): \(rawValue) skipped: \(reason)\n".utf8))
    }
}

/// The installed libraries among the requested ones, which perform one task with encoded images.
struct PicturePeers {
    /// A function of the modules in `Benchmarks/Peers`.
    enum Task: String { case thumbnail, decode, frames }

    private let task: Task
    private let settings: Settings
    private let suite: String
    private let installed: [(library: PeerLibrary, program: PythonPeer)]

    init(_ libraries: [PeerLibrary], _ task: Task, of suite: String, _ settings: Settings) {
        (self.task, self.suite, self.settings) = (task, suite, settings)
        installed = libraries.compactMap { library in
            do {
                return (library, try PythonPeer("picture.py", modules: [library.module]))
            } catch {
                library.skip((error as? Skipped)?.reason ?? "\(error)", in: suite)
                return nil
            }
        }
    }

    /// Returns rivals that process `bytes`, `count` times per round.
    ///
    /// `operations` is the number of operations per repetition. `bounds` contains the goals for the ratio of processor
    /// time. `quality` returns the signal-to-noise ratio of the resulting pixels, in decibels.
    func rivals(
        _ bytes: Data, count: Int, operations: Int = 1, atMost bounds: [PeerLibrary: Double],
        quality: ((Data) -> Double?)? = nil
    ) throws -> [Rival] {
        let folder = try settings.makeFolder(task.rawValue)
        let file = folder + "/picture"
        try bytes.write(to: URL(filePath: file))
        return try installed.compactMap { library, program in
            func words(_ count: Int) -> [String] { [library.module, task.rawValue, file, "\(count)"] }
            let psnr: Double?
            do {
                let pixels = folder + "/" + library.module
                try program.run(words(0) + (quality == nil ? [] : [pixels]))
                psnr = try quality.flatMap { $0(try Data(contentsOf: URL(filePath: pixels))) }
            } catch let skipped as Skipped {
                library.skip(skipped.reason, in: suite)
                return nil
            }
            let contender = Contender(library.rawValue) { _ in
                var sample = try program.measure(words(count)).mapValues { $0 / Double(operations) }
                sample[.psnr] = psnr
                return sample
            }
            return Rival(contender: contender, atMost: bounds[library])
        }
    }
}
