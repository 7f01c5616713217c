// SPDX-License-Identifier: MIT

#if JPEG2000
    import WebImageCore

    /// The check of the coding styles in the headers of a JPEG 2000 codestream (ISO/IEC 15444-1, annex A).
    ///
    /// OpenJPEG allocates memory for all precincts and code blocks of a tile before it reads a packet. A file of a few
    /// hundred bytes can declare one precinct per sample, for which OpenJPEG would allocate hundreds of bytes each.
    struct JPEG2000Segments {
        /// The smallest width and height of a precinct, as an exponent of 2. Encoders use at least 7.
        private static let smallestPrecinct = 5
        /// The smallest number of samples of a code block, as an exponent of 2. Encoders use 10 or 12.
        private static let smallestBlock = 8
        /// The markers of segments that ISO/IEC 15444 parts 1, 2, and 15 define. OpenJPEG searches for the next marker
        /// after an unknown one, so a codestream with unknown markers can't be checked.
        private static let known: Set<Int> = [
            0xFF50, 0xFF51, 0xFF52, 0xFF53, 0xFF55, 0xFF57, 0xFF58, 0xFF5C, 0xFF5D, 0xFF5E, 0xFF5F, 0xFF60, 0xFF61,
            0xFF63, 0xFF64, 0xFF74, 0xFF75, 0xFF77, 0xFF78,
        ]

        private let bytes: UnsafeBufferPointer<UInt8>

        /// Checks the headers of the first codestream and of all its tile parts. Throws
        /// ``ImageError/DecodingFailure/Reason/unsupportedFeature(format:feature:)``.
        static func check(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageError) {
            try JPEG2000Segments(bytes: bytes).check()
        }

        private func check() throws(ImageError) {
            guard var position = start() else { return }
            // Truncated data ends the check, because OpenJPEG rejects it.
            while let marker = big16(at: position) {
                switch marker {
                case 0xFF4F: position += 2
                case 0xFF90:
                    guard let length = big32(at: position + 6) else { return }
                    try checkTilePart(at: position + 12)
                    guard length >= 14 else { return }
                    position += length
                case 0xFFD9: return
                default:
                    guard let next = try checkSegment(marker, at: position) else { return }
                    position = next
                }
            }
        }

        /// Checks the segments of a tile part between SOT and SOD.
        private func checkTilePart(at start: Int) throws(ImageError) {
            var position = start
            while let marker = big16(at: position), marker != 0xFF93 {
                guard let next = try checkSegment(marker, at: position) else { return }
                position = next
            }
        }

        /// Checks one segment. Returns the position after it, or `nil` at the end of the data.
        private func checkSegment(_ marker: Int, at position: Int) throws(ImageError) -> Int? {
            guard Self.known.contains(marker) else {
                throw Self.unsupported("the marker \(String(marker, radix: 16))")
            }
            guard let length = big16(at: position + 2), length >= 2 else { return nil }
            let content = position + 4
            if marker == 0xFF52 {
                try checkStyle(at: content + 5, hasPrecincts: byte(at: content) & 1 != 0, end: position + 2 + length)
            } else if marker == 0xFF53 {
                // The probe limits the number of components, so the index of the component has one byte.
                let hasPrecincts = byte(at: content + 1) & 1 != 0
                try checkStyle(at: content + 2, hasPrecincts: hasPrecincts, end: position + 2 + length)
            }
            return position + 2 + length
        }

        /// Checks the coding style at a position: the number of decompositions, the size of code blocks, two further
        /// parameters, and the sizes of precincts.
        private func checkStyle(at position: Int, hasPrecincts: Bool, end: Int) throws(ImageError) {
            let exponents = Int(byte(at: position + 1) & 15) + Int(byte(at: position + 2) & 15) + 4
            guard exponents >= Self.smallestBlock else {
                throw Self.unsupported("code blocks of \(1 << exponents) samples")
            }
            guard hasPrecincts else { return }
            let first = position + 5
            for place in first..<max(first, min(end, first + 33)) {
                // Precincts of the lowest resolution aren't divided among the bands.
                let smallest = place == first ? Self.smallestPrecinct - 1 : Self.smallestPrecinct
                let (width, height) = (Int(byte(at: place) & 15), Int(byte(at: place) >> 4))
                guard width >= smallest, height >= smallest else {
                    throw Self.unsupported("precincts of \(1 << width) × \(1 << height) samples")
                }
            }
        }

        /// Returns the position of the codestream, which is the content of the first `jp2c` box or the whole file.
        private func start() -> Int? {
            if big16(at: 0) == 0xFF4F { return 0 }
            var position = 0
            while let length = big32(at: position), let name = big32(at: position + 4) {
                let isLong = length == 1
                if name == 0x6A70_3263 { return position + (isLong ? 16 : 8) }
                guard isLong || length >= 8 else { return nil }
                guard let long = isLong ? big32(at: position + 12) : length, long >= 8 else { return nil }
                // A box of 4 GB or more exceeds the data.
                if isLong, big32(at: position + 8) != 0 { return nil }
                position += long
            }
            return nil
        }

        private func byte(at position: Int) -> UInt8 { bytes.indices.contains(position) ? bytes[position] : 0 }

        private func big16(at position: Int) -> Int? {
            guard position >= 0, position + 2 <= bytes.count else { return nil }
            return Int(bytes[position]) << 8 | Int(bytes[position + 1])
        }

        private func big32(at position: Int) -> Int? {
            guard let high = big16(at: position), let low = big16(at: position + 2) else { return nil }
            return high << 16 | low
        }

        private static func unsupported(_ feature: String) -> ImageError {
            .decoding(.unsupportedFeature(format: .jpeg2000, feature: feature))
        }
    }
#endif
