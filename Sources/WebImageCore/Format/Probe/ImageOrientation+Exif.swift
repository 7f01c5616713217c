// SPDX-License-Identifier: MIT

import Foundation

extension ImageOrientation {
    /// Creates the orientation that an EXIF block declares (tag 0x0112 of its first directory; Exif 2.32, section
    /// 4.6.4), or returns `nil` if the block is invalid or declares none.
    ///
    /// - Parameter exif: The block, starting with its byte order mark or with the `Exif\0\0` prefix of JPEG.
    public init?(exif: Data) {
        guard let found = exif.withUnsafeBytes({ Self.declared(in: HeaderBytes($0, isComplete: true)) }) else {
            return nil
        }
        self = found
    }

    /// Creates the orientation that the EXIF block in `bytes` declares. The value is ``up`` if the block is invalid or
    /// declares none.
    init(exif bytes: HeaderBytes) { self = Self.declared(in: bytes) ?? .up }

    /// Returns the orientation that the EXIF block in `bytes` declares, or `nil` if the block is invalid or declares
    /// none.
    private static func declared(in bytes: HeaderBytes) -> ImageOrientation? {
        do throws(HeaderParsingError) {
            let start = try bytes.has("Exif\0") ? 6 : 0
            guard let directory = try TIFFDirectory(bytes.rest(from: start)),
                let value = try directory.value(of: 0x0112, at: directory.firstOffset),
                let orientation = ImageOrientation(rawValue: value)
            else { return nil }
            return orientation
        } catch {
            return nil
        }
    }
}

extension ImageOrientation {
    /// The number of clockwise quarter turns that follow an optional mirroring from left to right.
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

    func followed(by next: ImageOrientation) -> ImageOrientation {
        // Mirroring after a rotation equals mirroring before the opposite rotation.
        let turns = next.steps.mirrored ? next.steps.turns - steps.turns : next.steps.turns + steps.turns
        let wanted = (steps.mirrored != next.steps.mirrored, (turns + 4) % 4)
        return ImageOrientation.allCases.first { $0.steps == wanted } ?? .up
    }
}
