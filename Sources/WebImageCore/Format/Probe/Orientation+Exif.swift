// SPDX-License-Identifier: MIT

import Foundation

extension Orientation {
    /// The orientation that an EXIF block asks for (tag 0x0112 of its first directory, Exif 2.32 section 4.6.4).
    ///
    /// - Parameter exif: the block, from its byte order mark on, or with the `Exif\0\0` that JPEG puts before.
    /// - Returns: ``up`` where the block is damaged or says nothing.
    public static func read(exif: Data) -> Orientation {
        exif.withUnsafeBytes { Orientation(exif: HeaderBytes($0, isComplete: true)) }
    }

    /// The orientation that the EXIF block in `bytes` asks for, ``up`` where it is damaged or says nothing.
    init(exif bytes: HeaderBytes) {
        do throws(ProbeStop) {
            let start = try bytes.has("Exif\0") ? 6 : 0
            guard let directory = try TIFFDirectory(bytes.rest(from: start)),
                let value = try directory.value(of: 0x0112, at: directory.firstOffset),
                let orientation = Orientation(rawValue: value)
            else {
                self = .up
                return
            }
            self = orientation
        } catch {
            self = .up
        }
    }
}

extension Orientation {
    /// Quarter turns clockwise that follow a mirroring from left to right, if any.
    private var steps: (mirrored: Bool, turns: Int) {
        switch self {
        case .up: (false, 0)
        case .right: (false, 1)
        case .down: (false, 2)
        case .left: (false, 3)
        case .upMirrored: (true, 0)
        case .rightMirrored: (true, 1)
        case .downMirrored: (true, 2)
        case .leftMirrored: (true, 3)
        }
    }

    /// What this orientation and then `next` come to.
    func followed(by next: Orientation) -> Orientation {
        // A mirroring after a turn is the mirroring before the opposite turn.
        let turns = next.steps.mirrored ? next.steps.turns - steps.turns : next.steps.turns + steps.turns
        let wanted = (steps.mirrored != next.steps.mirrored, (turns + 4) % 4)
        return Orientation.allCases.first { $0.steps == wanted } ?? .up
    }
}
