// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import CWebImageGTK

    /// The GdkPaintable that draws the content of a renderer. The paintable retains the renderer, and the renderer
    /// doesn't retain the paintable.
    @MainActor
    final class ImagePaintable {
        let pointer: OpaquePointer
        let renderer: SlotRenderer

        init(_ renderer: SlotRenderer) {
            self.renderer = renderer
            let context = Unmanaged.passRetained(renderer).toOpaque()
            pointer = OpaquePointer(wi_gtk_paintable_new(functions, context))
        }

        isolated deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }

        func invalidate(size: Bool) {
            if size { gdk_paintable_invalidate_size(pointer) }
            gdk_paintable_invalidate_contents(pointer)
        }

        fileprivate nonisolated static func renderer(_ context: UnsafeMutableRawPointer) -> SlotRenderer {
            Unmanaged<SlotRenderer>.fromOpaque(context).takeUnretainedValue()
        }

        fileprivate nonisolated static func length(_ points: Double?) -> Int32 {
            guard let points, points > 0 else { return 0 }
            return Int32(min(points, 1_048_576).rounded(.up))
        }
    }

    // Safe: the table is initialized once, before the first paintable is created, and never changes. It's never freed
    // because the paintables point to it.
    nonisolated(unsafe) private let functions: UnsafePointer<wi_gtk_paintable_functions> = {
        let table = UnsafeMutablePointer<wi_gtk_paintable_functions>.allocate(capacity: 1)
        table.initialize(
            to: wi_gtk_paintable_functions(
                snapshot: { context, snapshot, width, height in
                    guard let context, let snapshot else { return }
                    // Safe: `assumeIsolated` runs synchronously on the main thread, where GTK draws, so the pointer
                    // never leaves it.
                    nonisolated(unsafe) let pointer = OpaquePointer(snapshot)
                    let renderer = ImagePaintable.renderer(context)
                    MainActor.assumeIsolated {
                        renderer.draw(RenderSnapshot(pointer: pointer), width: width, height: height)
                    }
                },
                width: { context in
                    guard let context else { return 0 }
                    let renderer = ImagePaintable.renderer(context)
                    return ImagePaintable.length(MainActor.assumeIsolated { renderer.intrinsicSize?.width })
                },
                height: { context in
                    guard let context else { return 0 }
                    let renderer = ImagePaintable.renderer(context)
                    return ImagePaintable.length(MainActor.assumeIsolated { renderer.intrinsicSize?.height })
                },
                ratio: { context in
                    guard let context else { return 0 }
                    let renderer = ImagePaintable.renderer(context)
                    return MainActor.assumeIsolated { renderer.intrinsicSize.map { $0.width / $0.height } } ?? 0
                },
                destroy: { context in
                    if let context { Unmanaged<SlotRenderer>.fromOpaque(context).release() }
                }))
        return UnsafePointer(table)
    }()
#endif
