// SPDX-License-Identifier: MIT

// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public protocol ViewRenderData {}

public struct WidgetData: Sendable {
    public init() {}
}

public class ViewStorage {
    public var pointer: Any?
    public var content: [String: [ViewStorage]]
    public var fields: [String: Any] = [:]

    public var opaquePointer: OpaquePointer? {
        get { pointer as? OpaquePointer }
        set { pointer = newValue }
    }

    public init(_ pointer: Any?, content: [String: [ViewStorage]] = [:]) {
        self.pointer = pointer
        self.content = content
    }
}

public protocol Widget {
    func container<Data>(data: WidgetData, type: Data.Type) -> ViewStorage where Data: ViewRenderData
    func update<Data>(_ storage: ViewStorage, data: WidgetData, updateProperties: Bool, type: Data.Type)
    where Data: ViewRenderData
}

public protocol AdwaitaWidget: Widget {}

/// The type of the main view, which is the render data of all widgets.
public enum AdwaitaMainView: ViewRenderData {}
