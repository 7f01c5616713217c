// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Synchronization
    import WebImage
    import WebImageCore
    import XCTest

    /// An animation that counts the decoded frames. Each frame lasts 50 ms.
    final class CountedFrames: AnimationDecoder {
        let timeline: AnimationTimeline
        var cost: Int { 0 }
        var decoded: Int { count.load(ordering: .relaxed) }
        private let count = Atomic<Int>(0)

        init(count: Int) { timeline = AnimationTimeline(loopCount: 0, durations: [Int](repeating: 50, count: count)) }

        func frame(at index: Int) throws(ImageError) -> PixelBuffer {
            count.wrappingAdd(1, ordering: .relaxed)
            do {
                // The frames are too large to keep all of them in memory.
                return try Sources.pixels([UInt8(5 * index), 0, 100], width: 400, height: 300)
            } catch {
                throw .request(.frameNotFound(index: index, frameCount: timeline.frameCount))
            }
        }

        func image() throws -> DecodedImage {
            DecodedImage(
                pixels: try Sources.pixels([0, 0, 100], width: 400, height: 300), animation: ImageAnimation(self))
        }
    }

    /// The settings of the desktop, which tests can change.
    @MainActor
    enum Desktop {
        static func set(_ name: String, _ value: Bool) throws {
            let settings = try XCTUnwrap(gtk_settings_get_default())
            var boolean = GValue()
            g_value_init(&boolean, g_type_from_name("gboolean"))
            g_value_set_boolean(&boolean, value ? 1 : 0)
            g_object_set_property(
                UnsafeMutableRawPointer(settings).assumingMemoryBound(to: GObject.self), name, &boolean)
        }
    }
#endif
