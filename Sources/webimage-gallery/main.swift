// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImageGTK

    gtk_init()
    print("GTK \(gtk_get_major_version()).\(gtk_get_minor_version())")
#else
    import Foundation

    FileHandle.standardError.write(Data("Build the gallery with --traits GTK (see Documentation/GTK.md).\n".utf8))
    exit(69)
#endif
