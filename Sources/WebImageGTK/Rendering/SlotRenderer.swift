// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage
    import WebImageCore
    import WebImageUI

    /// A type that owns a renderer.
    @MainActor
    protocol SlotRendererDelegate: AnyObject {
        /// The time of the current frame, in nanoseconds.
        var frameTime: Int { get }
        /// The text color of the view.
        var foreground: PixelColor { get }
        /// The properties of the widget and of the desktop that change how indicators are drawn.
        var style: DrawingStyle { get }
        /// Reports that the content of the renderer changed. `size` indicates whether its intrinsic size changed, too.
        func rendererChanged(_ renderer: SlotRenderer, size: Bool)
        /// Reports that ``SlotRenderer/advance(to:)`` needs to be called.
        func rendererNeedsTick(_ renderer: SlotRenderer)
        /// Reports that the current content was drawn or that its transition finished. This method is called during
        /// drawing.
        func rendererReached(_ renderer: SlotRenderer)
        /// Reports the size, in points, at which the renderer is about to draw.
        func renderer(_ renderer: SlotRenderer, hasBounds width: Double, _ height: Double)
    }

    /// The properties of the widget and of the desktop that change how indicators are drawn.
    struct DrawingStyle {
        var isRightToLeft = false
        var hasHighContrast = false
        /// Whether the widget shows that it has the keyboard focus.
        var showsFocus = false
    }

    /// The content of one slot of a view: the current image, the outgoing image of a transition, and the indicator. The
    /// host supplies the time.
    @MainActor
    final class SlotRenderer {
        weak var host: (any SlotRendererDelegate)?
        let slot: ImageSlot
        let manager: ImageManager

        var fit = ContentFit.contain { didSet { if fit != oldValue { changed() } } }
        /// The radius of the corners, in points.
        var cornerRadius = 0.0 { didSet { if cornerRadius != oldValue { changed() } } }
        var indicator = ImageIndicator.none { didSet { changed() } }
        /// The playback options of animations. A change applies to the next image.
        var playback = AnimationPlayer.Options()
        /// Whether animations start automatically. A change applies to the next image.
        var autoplays = true
        /// The number of device pixels per point.
        var scaleFactor = 1.0 { didSet { if scaleFactor != oldValue { changed(size: true) } } }
        var isVisible = false { didSet { player?.isVisible = isVisible } }
        var animates = true {
            didSet {
                player?.options.reducesMotion = playback.reducesMotion || !animates
                if !animates { endTransition() }
                changed()
            }
        }
        /// The state of the running load, or `nil` if none is running.
        var load: IndicatorState? { didSet { if load != oldValue { loadChanged(from: oldValue) } } }

        private(set) var current: RenderLayer?
        private(set) var outgoing: RenderLayer?
        private(set) var player: AnimationPlayer?
        private(set) var transition: RunningTransition?
        /// Whether the current content waits for its texture upload.
        private(set) var isWaiting = false
        /// The goal that the current content has reached.
        private(set) var reached = WebImageView.CompletionPoint.loaded
        /// Whether the renderer is drawing. Widgets must not change meanwhile.
        private(set) var isDrawing = false
        private var reportedSize: (width: Double, height: Double)?
        /// The number of the step in which the indicator moved last.
        private var indicatorStep = Int.min
        /// Whether the indicator must be redrawn in its next step because the progress changed.
        private var hasNewProgress = false

        init(slot: ImageSlot, manager: ImageManager) {
            self.slot = slot
            self.manager = manager
        }

        // MARK: - Content

        func present(_ presentation: ImageBinder.Presentation) {
            let next = RenderLayer(presentation)
            // Keep the content that was drawn most recently until the new content can be drawn.
            let old = current?.isDrawable == true ? current : outgoing
            play(next, after: current)
            current = next
            outgoing = next == nil ? nil : old
            transition = next == nil ? nil : RunningTransition(presentation.transition, animates: animates)
            isWaiting = false
            reached = .loaded
            changed()
        }

        private func play(_ layer: RenderLayer?, after old: RenderLayer?) {
            guard let layer, let image = layer.image, image.isAnimated else {
                player = nil
                return
            }
            let isComplete = layer.kind != .preview
            // This is a newer version of the preview that's playing, so continue the playback.
            if let player, let old, old.generation == layer.generation, old.kind == .preview,
                player.update(image, isComplete: isComplete)
            {
                layer.pixels = player.pixels
                return
            }
            var options = playback
            options.reducesMotion = options.reducesMotion || !animates
            let player = AnimationPlayer(image, manager: manager, options: options, isComplete: isComplete)
            self.player = player
            player?.isVisible = isVisible
            if autoplays { player?.play() }
            player?.onNeedsTick = { [weak self] in
                if let self { self.host?.rendererNeedsTick(self) }
            }
        }

        /// The intrinsic size of the content, in points, or `nil` if it has none.
        var intrinsicSize: (width: Double, height: Double)? { current?.size(scale: scaleFactor) }

        private func changed(size: Bool = false) {
            guard !isDrawing else {
                // Sizes must not change during drawing, so the next tick reports the change.
                host?.rendererNeedsTick(self)
                return
            }
            let size = intrinsicSize
            let isNew = size?.width != reportedSize?.width || size?.height != reportedSize?.height
            reportedSize = size
            host?.rendererChanged(self, size: isNew)
            if needsFrames { host?.rendererNeedsTick(self) }
        }

        /// Redraws the indicator if it appears or disappears. A progress that changes is drawn in the next step, because
        /// every chunk of a download changes it.
        private func loadChanged(from old: IndicatorState?) {
            guard indicator.isVisible else { return }
            let isSeen = load?.isSeen == true
            guard isSeen == (old?.isSeen == true) else { return changed() }
            guard isSeen, let fraction = load?.fraction, old?.fraction != nil, fraction < 1,
                indicator.progressNanoseconds > 1
            else {
                // An indicator that hasn't appeared needs only a tick.
                if isSeen { changed() } else if needsFrames, old == nil { host?.rendererNeedsTick(self) }
                return
            }
            guard !hasNewProgress else { return }
            hasNewProgress = true
            host?.rendererNeedsTick(self)
        }

        private func endTransition() {
            transition = nil
            outgoing = nil
        }

        // MARK: - Time

        private var needsFrames: Bool {
            transition?.start != nil || isWaiting || player != nil || load != nil && indicator.isVisible
        }

        /// Advances the renderer to the time `now`, in nanoseconds. Returns the time of the next call, in nanoseconds,
        /// or `nil` if no call is needed until something changes. A time of `now` or earlier means the next frame.
        func advance(to now: Int) -> Int? {
            var deadlines: [Int] = []
            var isChanged = isWaiting
            if let player {
                let (didChange, nextTick) = player.tick(at: .nanoseconds(now))
                if didChange {
                    current?.pixels = player.pixels
                    isChanged = true
                }
                if let nextTick { deadlines.append(nextTick.saturatingNanoseconds) }
            }
            // A transition begins when it's drawn, so a slot that isn't drawn needs no frames for it.
            if let transition, transition.start != nil {
                isChanged = true
                if transition.isFinished(at: now) { endTransition() } else { deadlines.append(now) }
            }
            if isWaiting { deadlines.append(now) }
            if indicator.isVisible, load != nil {
                if load?.since == nil { load?.since = now }
                let appears = (load?.since ?? now) + indicator.delayNanoseconds
                if now < appears {
                    deadlines.append(appears)
                } else {
                    isChanged = isChanged || load?.isSeen == false
                    load?.isSeen = true
                    let moves = animates && indicator.moves(load?.fraction)
                    if moves || hasNewProgress {
                        let interval = moves ? indicator.stepNanoseconds : indicator.progressNanoseconds
                        // All indicators move in the same frames, because each frame costs more than an indicator.
                        let step = now / interval
                        let isDue = step != indicatorStep
                        isChanged = isChanged || isDue
                        if isDue { hasNewProgress = false }
                        indicatorStep = step
                        if moves || !isDue { deadlines.append(interval > 1 ? (step + 1) * interval : now) }
                    }
                }
            }
            let size = intrinsicSize
            let isNew = size?.width != reportedSize?.width || size?.height != reportedSize?.height
            reportedSize = size
            if isChanged || isNew { host?.rendererChanged(self, size: isNew) }
            return deadlines.min()
        }

        // MARK: - Drawing

        /// Draws the content with a size of `width` × `height` points.
        func draw(_ snapshot: RenderSnapshot, width: Double, height: Double) {
            guard width > 0, height > 0 else { return }
            isDrawing = true
            defer { isDrawing = false }
            host?.renderer(self, hasBounds: width, height)
            let now = host?.frameTime ?? 0
            let box = (width: width, height: height)
            isWaiting = current?.prepare(at: now, .shared) == false
            if isWaiting { host?.rendererNeedsTick(self) }
            var isOver = true
            if let current, current.isDrawable {
                isOver = !drawTransition(to: current, snapshot, box, now)
                if isOver { draw(current, snapshot, box) }
            } else {
                draw(outgoing, snapshot, box)
            }
            drawIndicator(snapshot, box, now)
            if host?.style.showsFocus == true { drawFocus(snapshot, box) }
            guard !isWaiting else { return }
            let old = reached
            reached = max(old, isOver ? .transitionFinished : .displayed)
            if reached != old { host?.rendererReached(self) }
        }

        /// Draws the running transition. Returns `false` if there's none or if it has finished.
        private func drawTransition(
            to current: RenderLayer, _ snapshot: RenderSnapshot, _ box: (width: Double, height: Double), _ now: Int
        ) -> Bool {
            guard var transition, !isWaiting else { return false }
            if transition.start == nil {
                transition.start = now
                self.transition = transition
                host?.rendererNeedsTick(self)
            }
            let progress = transition.progress(at: now)
            guard progress < 1 else { return false }
            transition.transition.draw(
                ImageTransition.Frame(
                    snapshot: snapshot.pointer, width: box.width, height: box.height, progress: progress,
                    drawOld: { self.draw(self.outgoing, snapshot, box) },
                    drawNew: { self.draw(current, snapshot, box) }))
            return true
        }

        private func draw(_ layer: RenderLayer?, _ snapshot: RenderSnapshot, _ box: (width: Double, height: Double)) {
            layer?.draw(
                snapshot, in: box, fit: fit, radius: cornerRadius, scale: scaleFactor,
                foreground: host?.foreground ?? .black, isRightToLeft: host?.style.isRightToLeft ?? false)
        }

        private func drawIndicator(_ snapshot: RenderSnapshot, _ box: (width: Double, height: Double), _ now: Int) {
            guard let load, load.isSeen, let since = load.since else { return }
            let elapsed = animates ? Duration.nanoseconds(max(0, now - since)) : .zero
            let style = host?.style ?? DrawingStyle()
            indicator.draw(
                ImageIndicator.Frame(
                    snapshot: snapshot.pointer, width: box.width, height: box.height, fraction: load.fraction,
                    elapsed: elapsed, foregroundColor: host?.foreground ?? .black,
                    isRightToLeft: style.isRightToLeft, hasHighContrast: style.hasHighContrast))
        }

        /// Draws a frame inside the edges. Themes draw none around images, because most images can't have the focus.
        private func drawFocus(_ snapshot: RenderSnapshot, _ box: (width: Double, height: Double)) {
            let color = host?.foreground ?? .black
            let thickness = min(host?.style.hasHighContrast == true ? 4 : 2, box.width / 2, box.height / 2)
            for (x, y, width, height) in [
                (0, 0, box.width, thickness), (0, box.height - thickness, box.width, thickness),
                (0, 0, thickness, box.height), (box.width - thickness, 0, thickness, box.height),
            ] {
                snapshot.color(color, in: LayoutRect(x: x, y: y, width: width, height: height))
            }
        }
    }

    /// The state of a load that the indicator shows.
    struct IndicatorState: Equatable {
        /// The fraction of the download that's complete, from 0 to 1, or `nil` if it's unknown.
        var fraction: Double?
        /// The time at which the renderer first noticed the load, in nanoseconds.
        var since: Int?
        /// Whether the indicator has appeared. It appears after a delay, so that fast loads don't show it.
        var isSeen = false
    }
#endif
