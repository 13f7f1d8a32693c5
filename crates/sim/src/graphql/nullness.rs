//! Where null stands in an answer after an error: at the field that failed, or around it if that can never be null.
//!
//! The library leaves a failed field out of the answer and keeps its neighbours, which no client of GitHub expects.

use std::sync::{Arc, Mutex, PoisonError};

use async_graphql::{
    ServerResult, Value as Told,
    extensions::{Extension, ExtensionContext, ExtensionFactory, NextResolve, ResolveInfo},
};
use serde_json::{Map, Value, to_value};

/// The places of one answer where null belongs.
#[derive(Clone, Default)]
pub(super) struct Failures(Arc<Mutex<Vec<Vec<Value>>>>);

/// Notices the fields that fail.
pub(super) struct Noticing;

impl ExtensionFactory for Noticing {
    fn create(&self) -> Arc<dyn Extension> {
        Arc::new(Self)
    }
}

#[async_graphql::async_trait::async_trait]
impl Extension for Noticing {
    async fn resolve(
        &self,
        context: &ExtensionContext<'_>,
        info: ResolveInfo<'_>,
        next: NextResolve<'_>,
    ) -> ServerResult<Option<Told>> {
        let (path, never_null) = (to_value(info.path_node), info.return_type.ends_with('!'));
        let resolved = next.run(context, info).await;
        if resolved.is_err()
            && let (Ok(Value::Array(mut path)), Ok(failures)) = (path, context.data::<Failures>())
        {
            if never_null {
                path.pop();
            }
            failures.0.lock().unwrap_or_else(PoisonError::into_inner).push(path);
        }
        resolved
    }
}

impl Failures {
    /// Writes null where it belongs.
    pub(super) fn write_into(&self, data: &mut Value) {
        for path in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            blank(data, path);
        }
    }
}

/// Writes null at a place, if what stands around it is there.
fn blank(data: &mut Value, path: &[Value]) {
    let Some((last, above)) = path.split_last() else {
        *data = Value::Null;
        return;
    };
    // Deeds stand at the top; of one that failed nothing is left but its name.
    if data.is_null() && above.is_empty() {
        *data = Value::Object(Map::new());
    }
    let around = above.iter().try_fold(data, |around, step| match (around, step) {
        (Value::Object(fields), Value::String(name)) => fields.get_mut(name),
        (Value::Array(entries), step) => entries.get_mut(usize::try_from(step.as_u64()?).ok()?),
        _ => None,
    });
    match (around, last) {
        (Some(Value::Object(fields)), Value::String(name)) => drop(fields.insert(name.clone(), Value::Null)),
        (Some(Value::Array(entries)), place) => {
            let place = place.as_u64().and_then(|place| usize::try_from(place).ok());
            if let Some(entry) = place.and_then(|place| entries.get_mut(place)) {
                *entry = Value::Null;
            }
        }
        _ => {}
    }
}
