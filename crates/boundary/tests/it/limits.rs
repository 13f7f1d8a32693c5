//! What a runaway behind the wall can take at most.

use crate::world::{everyone, text};

#[test]
fn a_runaway_meets_limits_that_it_cannot_raise() {
    let script = "
import resource
for name, most in [('CORE', 0), ('FSIZE', 8 << 30), ('NOFILE', 65536), ('NPROC', 16384)]:
    kind = getattr(resource, 'RLIMIT_' + name)
    held = resource.getrlimit(kind)
    kept = all(0 <= limit <= most for limit in held)
    try:
        resource.setrlimit(kind, (most + 1, most + 1))
        kept = False
    except (ValueError, PermissionError):
        pass
    print(name, 'holds' if kept else held)";
    everyone(|world| {
        let told = world.python(script, &[]);
        assert_eq!(text(&told), "CORE holds\nFSIZE holds\nNOFILE holds\nNPROC holds\n", "{told:?}");
    });
}
