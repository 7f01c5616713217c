// SPDX-License-Identifier: MIT

#if TIFF
    import Foundation
    import Testing
    import WebImageCodecs
    import WebImageCore

    @Suite("Cycles of TIFF directories")
    struct TIFFCycleTests {
        private func little(_ value: Int, _ count: Int) -> Data {
            Data((0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) })
        }

        /// Returns a file with `count` directories, of which the last refers to the directory with the index `next`.
        private func file(_ count: Int, next: Int) -> Data {
            let entries = [
                (256, 8), (257, 8), (258, 8), (259, 1), (262, 1), (273, 8), (277, 1), (278, 8), (279, 64),
            ]
            let size = 2 + 12 * entries.count + 4
            var data = Data("II*\0".utf8) + little(72, 4) + Data(repeating: 9, count: 64)
            for index in 0..<count {
                data += little(entries.count, 2)
                for (tag, value) in entries { data += little(tag, 2) + little(4, 2) + little(1, 4) + little(value, 4) }
                data += little(72 + size * (index + 1 < count ? index + 1 : next), 4)
            }
            return data
        }

        private func error(_ data: Data, _ info: ImageInfo, page: Int) -> ImageError? {
            var options = ImageDecodingOptions()
            options.frames = .index(page)
            do throws(ImageError) {
                _ = try TIFFCoder().decode(data, info: info, options: options, context: ImageProcessingContext())
                return nil
            } catch {
                return error
            }
        }

        @Test(
            "A page in or after a cycle isn't found, and libtiff doesn't receive the file",
            arguments: [(1, 0), (2, 0), (3, 1), (3, 2)])
        func cycles(_ count: Int, _ next: Int) throws {
            let data = file(count, next: next)
            let info = try ImageInfo(data: data)
            #expect(info.frameCount == 1)
            #expect(error(data, info, page: 0) == nil)
            // libtiff rejects other bytes with another error.
            let other = Data("no TIFF file".utf8)
            guard case .decoding = error(other, info, page: 0) else {
                Issue.record("libtiff accepts a text")
                return
            }
            for page in [1, 2, 3, 1_000_000, Int.max] {
                let expected = ImageError.request(.frameNotFound(index: page, frameCount: 1))
                #expect(error(data, info, page: page) == expected && error(other, info, page: page) == expected)
            }
        }
    }
#endif
