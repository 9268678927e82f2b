//! The names of a workload's operations, and of the requests below them.

use std::collections::BTreeMap;

use crate::session::{OperationId, RequestId, RequestName, Workload};

/// What a workload does, by name.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Names of the operations, by [`OperationId`].
    pub operations: Vec<&'static str>,
    /// The requests below them, by [`RequestId`].
    pub requests: Vec<RequestName>,
}

impl Names {
    /// Those of `workload`.
    pub fn of(workload: &impl Workload) -> Self {
        Self {
            operations: workload.operations().to_vec(),
            requests: workload.requests().to_vec(),
        }
    }

    /// The requests below `operation`, in their order.
    pub fn below(
        &self,
        operation: OperationId,
    ) -> impl Iterator<Item = (RequestId, &'static str)> + '_ {
        let all = self.requests.iter().enumerate();
        all.filter(move |(_, request)| request.operation == operation)
            .map(|(id, request)| (id, request.name))
    }

    /// Whether `operation` has requests below it.
    pub fn has_requests(&self, operation: OperationId) -> bool {
        self.below(operation).next().is_some()
    }

    /// The names of the requests of each operation that has any, in their order.
    pub fn requests_by_operation(&self) -> BTreeMap<&'static str, Vec<&'static str>> {
        let mut named = BTreeMap::<_, Vec<_>>::new();
        for request in &self.requests {
            let operation = self.operations[request.operation];
            named.entry(operation).or_default().push(request.name);
        }
        named
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_found_below_their_operation_in_their_order() {
        let request = |operation, name| RequestName { operation, name };
        let names = Names {
            operations: vec!["log-in", "list", "log-out"],
            requests: vec![
                request(0, "form"),
                request(1, "page"),
                request(0, "form sent"),
            ],
        };
        let below: Vec<_> = names.below(0).collect();
        assert_eq!(below, [(0, "form"), (2, "form sent")]);
        assert!(names.has_requests(1) && !names.has_requests(2));
        let named = names.requests_by_operation();
        assert_eq!(
            named,
            [
                ("list", vec!["page"]),
                ("log-in", vec!["form", "form sent"])
            ]
            .into()
        );
    }
}
