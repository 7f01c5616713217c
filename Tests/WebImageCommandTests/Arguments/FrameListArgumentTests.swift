// SPDX-License-Identifier: MIT

import Testing
import WebImageCommand
import WebImageCore

@Suite("The --frames option")
struct FrameListArgumentTests {
    @Test(
        "Numbers and ranges select frames in the order in which they're specified",
        arguments: [
            ("0", [0]), ("0-3", [0, 1, 2, 3]), ("2,5,8-", [2, 5, 8, 9]), ("9-", [9]), ("3-1", [3, 2, 1]),
            ("4,4", [4, 4]), ("7-7", [7]), ("0-9,8-1", Array(0...9) + (1...8).reversed()),
        ])
    func reading(_ text: String, _ indices: [Int]) throws {
        #expect(try FrameListArgument(text).indices(count: 10) == indices)
    }

    @Test(
        "An invalid selection is rejected",
        arguments: ["", ",", "1,", "-", "-3", "a", "1-b", "1--2", "1-2-3", "+1", " 1", "99999999999999999999"])
    func refused(_ text: String) {
        #expect(throws: UsageError.self) { try FrameListArgument(text) }
    }

    @Test("Missing frames are reported", arguments: [("10", 10), ("0-12", 12), ("15-", 15), ("11-2", 11)])
    func missing(_ text: String, _ index: Int) throws {
        let selection = try FrameListArgument(text)
        #expect(throws: ImageError.request(.frameNotFound(index: index, frameCount: 10))) {
            try selection.indices(count: 10)
        }
    }

    @Test("Frame numbers are inserted into file names")
    func names() {
        #expect(FrameNames("a.png") == nil)
        #expect(FrameNames("100%.png") == nil)
        #expect(FrameNames("f-%d.png")?.name(12) == "f-12.png")
        #expect(FrameNames("f-%03d.png")?.name(7) == "f-007.png")
        #expect(FrameNames("%2d%%.png")?.name(123) == "123%%.png")
        #expect(FrameNames("50%-%04d")?.name(1) == "50%-0001")
        #expect(FrameNames("%999d.png") == nil)
    }
}
