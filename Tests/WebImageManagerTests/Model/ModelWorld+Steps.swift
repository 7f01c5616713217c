// SPDX-License-Identifier: MIT

import Foundation
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// The random steps of the model.
extension ModelWorld {
    func step() async {
        switch Int.random(in: 0..<48, using: &random) {
        case 0..<16: load()
        case 16..<20: cancelOne()
        case 20..<24: running.randomElement(using: &random)?.task.priority = anyPriority()
        case 24..<32: source.openOne(Int.random(in: 0..<64, using: &random))
        case 32: if let entry = running.randomElement(using: &random) { listen(to: entry.task) }
        case 33: prefetch()
        case 34: steerPrefetches()
        case 35, 36: requestData()
        case 37: waitForResponse()
        case 38, 39: cancelWait()
        case 40: fixture.pass(seconds: Double.random(in: 0...40, using: &random))
        case 41: source.change(Int.random(in: 0..<ModelSource.imageCount, using: &random))
        case 42: await removeCached()
        case 43 where Self.checksSharing: await removeAllWhileLoading()
        default: for _ in 0..<Int.random(in: 1...20, using: &random) { await Task.yield() }
        }
    }

    // MARK: - Requests

    private func anyPriority() -> RequestPriority {
        RequestPriority.allCases.randomElement(using: &random) ?? .normal
    }

    /// Returns a request and the content of its image.
    private func anyRequest() -> (ImageRequest, ModelImage) {
        let picture = Int.random(in: 0..<ModelSource.imageCount, using: &random)
        var request = ImageRequest(url: ModelSource.urls[picture])
        request.size =
            [nil, nil, .fit(width: 12, height: 12), .fill(width: 5, height: 5)].randomElement(using: &random) ?? nil
        request.priority = anyPriority()
        request.cachePolicy =
            [nil, nil, nil, .http, .cacheFirst, .refresh, .reload, .cacheOnly]
            .randomElement(using: &random) ?? nil
        if chance(3) { request.transformers = [.flip(.horizontal)] }
        if chance(6) { request.transformers = [.flip(.horizontal), .flip(.vertical)] }
        if chance(16) { request.transformers = [.custom(id: "refusing") { _, _ in throw ModelRefusal() }] }
        if chance(4) { request.previews = .progressive(interval: .zero) }
        if chance(8) { request.previews = .blurred(interval: .zero) }
        if chance(5) { request.includesOriginalData = true }
        if chance(6) { request.caching.processedEncoding = .png }
        if chance(8) { request.caching.waitsUntilStored = true }
        if chance(6) { request.continuesAfterCancellation = true }
        if chance(3) { request.caching.bypassesFailureCache = true }
        if chance(8) { request.caching.writeTo = [] }
        if chance(8) { request.caching.readFrom = [] }
        if chance(8) { request.caching.originalReadFrom = [] }
        if chance(6) { request.caching.allowsLargerImages = true }
        if chance(10) { request.headers["Accept"] = chance(2) ? "image/png" : "*/*" }
        if chance(20) { request.maxInFlightRequests = 4 }
        if chance(20) { request.limits = ImageLimits.icon }
        if chance(4) { request.userInfo["intercept"] = Int.random(in: 0..<3, using: &random) }
        var expected = ModelImage(number: picture)
        if Self.checksSharing { share(&request, &expected) }
        return (request, expected)
    }

    /// Changes the caches or the credentials of a request.
    private func share(_ request: inout ImageRequest, _ expected: inout ModelImage) {
        if chance(4) { request.caching.originalWriteTo = [[], .disk, .custom].randomElement(using: &random) ?? [] }
        // The manager removes only the entries of its own caches, and data in use by another cache can also serve a
        // request. So an image is either stored in another cache or checked for its version.
        if expected.number < ModelSource.imageCount / 2 {
            expected.version = oldest[expected.number]
        } else if chance(2) {
            let cache = caches.randomElement(using: &random)
            if chance(2) { request.caching.cache = cache } else { request.caching.originalCache = cache }
        }
        expected.user = Int.random(in: 0...ModelSource.users.count, using: &random)
        if expected.user > 0 { request.network.credentials = ModelSource.users[expected.user - 1] }
    }

    /// Changes all images and removes them from the caches. Later requests must not receive older versions.
    private func removeAllWhileLoading() async {
        let versions = source.changeAll()
        await fixture.manager.removeAllCachedImages()
        oldest = versions
    }

    private func load() {
        let (request, picture) = anyRequest()
        let task = fixture.manager.load(request)
        running.append(Running(task: task))
        if chance(2) { listen(to: task) }
        for _ in 0..<Int.random(in: 0..<3, using: &random) { wait(for: task, picture) }
    }

    private func cancelOne() {
        guard let index = running.indices.randomElement(using: &random) else { return }
        running[index].isCancelled = true
        running[index].task.cancel()
    }

    // MARK: - Subscribers

    private func listen(to task: ImageTask) {
        let events = task.events
        listeners.append(
            Task {
                var (terminals, isLast) = (0, true)
                for await event in events {
                    isLast = false
                    if case .finished = event {
                        terminals += 1
                        isLast = true
                    }
                }
                return (terminals, isLast)
            })
    }

    private func wait(for task: ImageTask, _ picture: ModelImage) {
        let (size, check) = (task.request.size, checking(picture))
        wait { if let response = try? await task.response { check(response.image, size) } }
    }

    private func waitForResponse() {
        let (request, picture) = anyRequest()
        let (manager, check) = (fixture.manager, checking(picture))
        wait { if let response = try? await manager.response(for: request) { check(response.image, request.size) } }
    }

    private func requestData() {
        let (request, asked) = anyRequest()
        let (manager, source) = (fixture.manager, source)
        let encodings: [ImageEncoding?] = [nil, .png, .jpeg, .webp]
        let complaints = complaints
        guard let encoding = encodings.randomElement(using: &random) ?? nil else {
            return wait {
                guard let data = try? await manager.data(for: request), let shown = source.content(of: data),
                    let complaint = source.complaint(of: asked, shown)
                else { return }
                complaints.update { $0.append("data: \(complaint)") }
            }
        }
        wait {
            guard let data = try? await manager.encodedImage(for: request, as: encoding).data else { return }
            if ImageFormat(sniffing: data) != encoding.formatOrAutomatic {
                let wanted = encoding.formatOrAutomatic
                complaints.update { $0.append("requested \(wanted), got \(data.count) bytes of another type") }
            }
        }
    }

    private func wait(_ body: @escaping @Sendable () async -> Void) { waits.append((Task(operation: body), false)) }

    private func cancelWait() {
        guard let index = waits.indices.randomElement(using: &random) else { return }
        waits[index].isCancelled = true
        waits[index].wait.cancel()
    }

    /// Returns a function that checks whether an image is the requested one.
    private func checking(_ asked: ModelImage) -> @Sendable (DecodedImage, TargetSize?) -> Void {
        let (complaints, successes, source) = (complaints, successes, source)
        return { image, size in
            successes.update { $0 += 1 }
            let shown = ModelSource.content(of: image)
            if let complaint = source.complaint(of: asked, shown) { complaints.update { $0.append(complaint) } }
            let expected = try? size?.plan(for: ModelSource.size, scale: 1).output
            let isLarger = image.size.width >= (expected?.width ?? 0)
            guard image.size == expected ?? ModelSource.size || isLarger else {
                return complaints.update { $0.append("requested \(String(describing: size)), got \(image.size)") }
            }
        }
    }

    // MARK: - Others

    private func prefetch() {
        let requests = (0..<Int.random(in: 0..<12, using: &random)).map { _ in anyRequest().0 }
        prefetches.append(
            prefetcher.prefetch(requests, to: chance(2) ? .memoryCache : .diskCache, priority: chance(2) ? .low : nil))
    }

    private func steerPrefetches() {
        let task = prefetches.randomElement(using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: task?.cancel()
        case 1: task?.isPaused.toggle()
        case 2: task?.priority = anyPriority()
        case 3: prefetcher.isPaused.toggle()
        case 4: prefetcher.cancelAll()
        default: prefetcher.isPaused = false
        }
    }

    private func removeCached() async {
        let manager = fixture.manager
        switch Int.random(in: 0..<6, using: &random) {
        case 0: await manager.removeAllCachedImages()
        case 1: manager.memoryCache.removeAll()
        case 2: manager.memoryCache.trim(toFraction: 0.5)
        case 3: manager.removeRememberedFailures()
        default: await manager.removeCachedImage(for: anyRequest().0)
        }
    }
}

private struct ModelRefusal: Error {}
