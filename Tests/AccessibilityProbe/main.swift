// SPDX-License-Identifier: MIT

// A program with images in a window, for the tests of assistive technologies. `inspect.py` starts it and examines it
// through AT-SPI. The only argument is a directory with the file `described.png`.
//
// The program reads commands from standard input, one per line: `retry` retries the failed load.

import Foundation

#if GTK
    import CGTK4
    import WebImage
    import WebImageGTK

    /// The window and its widgets.
    @MainActor
    enum Probe {
        private static let interface = """
            <interface>
              <object class="GtkWindow" id="window">
                <property name="title">Accessibility probe</property>
                <property name="default-width">300</property>
                <property name="default-height">200</property>
                <child>
                  <object class="GtkBox">
                    <property name="homogeneous">1</property>
                    <child><object class="WebImagePicture" id="described"/></child>
                    <child>
                      <object class="WebImagePicture" id="named">
                        <property name="alternative-text">A name of the application</property>
                      </object>
                    </child>
                    <child><object class="WebImagePicture" id="failing"/></child>
                  </object>
                </child>
              </object>
            </interface>
            """

        static func run(_ directory: String) {
            gtk_init()
            GTKMainLoop.install()
            WebPicture.registerType()
            let builder = gtk_builder_new_from_string(interface, -1)
            func widget(_ name: String) -> UnsafeMutablePointer<GtkWidget>? {
                gtk_builder_get_object(builder, name).map {
                    UnsafeMutableRawPointer($0).assumingMemoryBound(to: GtkWidget.self)
                }
            }
            guard let window = widget("window"), let failing = widget("failing").flatMap({ WebImageView(for: $0) })
            else {
                exit(1)
            }
            for (name, file) in [("described", "described"), ("named", "described"), ("failing", "missing")] {
                let url = URL(filePath: directory).appending(path: "\(file).png")
                widget(name).flatMap { WebImageView(for: $0) }?.load(url)
            }
            gtk_window_present(UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self))
            Thread.detachNewThread {
                while let line = readLine() {
                    if line == "retry" { DispatchQueue.main.async { failing.retry() } }
                }
                exit(0)
            }
            let loop = g_main_loop_new(nil, 0)
            g_main_loop_run(loop)
        }
    }

    Probe.run(CommandLine.arguments.dropFirst().first ?? ".")
#else
    print("This program needs the trait GTK.")
#endif
