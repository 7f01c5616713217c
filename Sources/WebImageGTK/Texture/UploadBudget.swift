// SPDX-License-Identifier: MIT

#if GTK
    /// Bounds what is uploaded within one frame: when many pictures arrive at once, they appear over several frames instead
    /// of stopping all of them. The first of a frame is let through, however large.
    @MainActor
    final class UploadBudget {
        static let shared = UploadBudget()

        /// Bytes per frame.
        var bytesPerFrame = 8 << 20
        private var frame = Int.min
        private var spent = 0

        /// Whether `texture` may be drawn in the frame of the time `now`.
        func admits(_ texture: GTKTexture, at now: Int) -> Bool {
            if texture.wasDrawn { return true }
            if now != frame {
                frame = now
                spent = 0
            }
            guard spent == 0 || spent + texture.byteCount <= bytesPerFrame else { return false }
            spent += texture.byteCount
            texture.wasDrawn = true
            return true
        }
    }
#endif
