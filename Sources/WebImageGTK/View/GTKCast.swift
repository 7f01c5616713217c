// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4

    /// Returns a pointer to an object of GTK as a pointer to the structure of one of its classes.
    ///
    /// The functions that create widgets return pointers to `GtkWidget`, but the functions of a class take pointers to its
    /// structure. This function replaces the macros of C, such as `GTK_WINDOW`:
    ///
    /// ```swift
    /// let window = gtkCast(gtk_window_new(), to: GtkWindow.self)
    /// gtk_box_append(gtkCast(box), label)
    /// ```
    ///
    /// In debug builds, the program stops if the object isn’t an instance of the class. Release builds don’t check it, as the
    /// macros don’t if their checks are disabled. Classes without a public structure, such as `GtkPicture`, have pointers of
    /// the type `OpaquePointer`, which `OpaquePointer(widget)` creates.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - type: The structure of a class of the object. Without an argument, the context determines it.
    /// - Returns: The same pointer with another type.
    public func gtkCast<Source, Target>(
        _ object: UnsafeMutablePointer<Source>, to type: Target.Type = Target.self
    ) -> UnsafeMutablePointer<Target> {
        checkedCast(UnsafeMutableRawPointer(object), to: type)
    }

    /// Returns an opaque pointer to an object of GTK as a pointer to the structure of one of its classes, such as
    /// `GtkWidget`.
    ///
    /// In debug builds, the program stops if the object isn’t an instance of the class.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - type: The structure of a class of the object. Without an argument, the context determines it.
    /// - Returns: The same pointer with another type.
    public func gtkCast<Target>(
        _ object: OpaquePointer, to type: Target.Type = Target.self
    ) -> UnsafeMutablePointer<Target> {
        checkedCast(UnsafeMutableRawPointer(object), to: type)
    }

    private func checkedCast<Target>(
        _ object: UnsafeMutableRawPointer, to type: Target.Type
    ) -> UnsafeMutablePointer<Target> {
        assert(GTKClass.contains(object, type), "The object isn’t an instance of \(GTKClass.name(of: type)).")
        return object.assumingMemoryBound(to: type)
    }

    /// A namespace for the classes of GTK whose structures Swift imports.
    enum GTKClass {
        /// The name of the class, which the structure has after an underscore.
        static func name<Structure>(of type: Structure.Type) -> String {
            String(String(describing: type).drop { $0 == "_" })
        }

        /// Whether an object is an instance of the class, or of a class that inherits from it.
        static func contains<Structure>(_ object: UnsafeMutableRawPointer, _ type: Structure.Type) -> Bool {
            // The class of each object and the classes from which it inherits are registered.
            let id = g_type_from_name(name(of: type))
            return id != 0 && g_type_check_instance_is_a(object.assumingMemoryBound(to: GTypeInstance.self), id) != 0
        }
    }
#endif
