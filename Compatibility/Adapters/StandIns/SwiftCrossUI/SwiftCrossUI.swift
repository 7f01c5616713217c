// SPDX-License-Identifier: MIT

// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import ImageFormats

@MainActor
public protocol View {
    associatedtype Content: View
    @ViewBuilder var body: Content { get }
}

public struct EmptyView: View {
    public var body: Never { fatalError("An empty view has no content.") }
}

extension Never: View {
    public var body: Never { fatalError("There is no such view.") }
}

@MainActor
@resultBuilder
public enum ViewBuilder {
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildIf<Content: View>(_ content: Content?) -> OptionalView<Content> {
        OptionalView(content: content)
    }
}

public struct OptionalView<Wrapped: View>: View {
    let content: Wrapped?
    public var body: EmptyView { EmptyView() }
}

public struct VStack<Inner: View>: View {
    let content: Inner
    public init(@ViewBuilder _ content: () -> Inner) { self.content = content() }
    public var body: Inner { content }
}

public struct Image: View, Sendable {
    let source: ImageFormats.Image<RGBA>
    var isResizable = false

    public init(_ image: ImageFormats.Image<RGBA>) { source = image }

    public func resizable() -> Self {
        var image = self
        image.isResizable = true
        return image
    }

    public var body: EmptyView { EmptyView() }
}

/// A modifier, which runs its action when the renderer reads it.
public struct ActionModifier<Inner: View>: View {
    let content: Inner
    let appear: (() -> Void)?
    let disappear: (@Sendable @MainActor () -> Void)?
    public var body: Inner { content }
}

extension View {
    public func onChange<Value: Equatable>(
        of value: Value, initial: Bool = false, perform action: @escaping () -> Void
    ) -> some View {
        ActionModifier(content: self, appear: initial ? action : nil, disappear: nil)
    }

    public func onDisappear(perform action: @escaping @Sendable @MainActor () -> Void) -> some View {
        ActionModifier(content: self, appear: nil, disappear: action)
    }
}

public protocol ObservableObject: AnyObject {}

@propertyWrapper
public final class Published<Value> {
    public var wrappedValue: Value
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

@propertyWrapper
public struct State<Value> {
    private final class Storage {
        var value: Value
        init(_ value: Value) { self.value = value }
    }

    private let storage: Storage

    public init(wrappedValue: Value) where Value: ObservableObject { storage = Storage(wrappedValue) }

    public var wrappedValue: Value {
        get { storage.value }
        nonmutating set { storage.value = newValue }
    }
}

/// The renderer of the tests: runs the actions of a view and returns its image.
@MainActor
public enum Renderer {
    public enum Phase { case appear, update, disappear }

    public static func render(_ view: some View, _ phase: Phase) -> ImageFormats.Image<RGBA>? {
        image(in: view.body, phase)
    }

    private static func image(in value: Any, _ phase: Phase) -> ImageFormats.Image<RGBA>? {
        if let image = value as? Image { return image.isResizable ? image.source : nil }
        var found: ImageFormats.Image<RGBA>?
        for child in Mirror(reflecting: value).children {
            if phase == .appear, child.label == "appear", let action = child.value as? (() -> Void)? { action?() }
            if phase == .disappear, child.label == "disappear",
                let action = child.value as? (@Sendable @MainActor () -> Void)?
            {
                action?()
            }
            if child.label == "content" || child.label == "some" { found = found ?? image(in: child.value, phase) }
        }
        return found
    }
}
