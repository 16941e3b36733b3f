//! Whether the parts of a result fit each other. Checked once, so that later code need not.

use super::error::ResultsError;
use super::experiment::Experiment;
use super::replication::Replication;

impl Experiment {
    /// Checks that groups and replications fit this experiment.
    ///
    /// # Errors
    /// When a group points outside the flows or a replication has other flows, links or windows.
    pub fn check(&self, replications: &[Replication]) -> Result<(), ResultsError> {
        for group in &self.groups {
            if let Some(&flow) = group.flows.iter().find(|&&flow| flow >= self.flows.len()) {
                let (group, flows) = (group.name.clone(), self.flows.len());
                return Err(ResultsError::Group { group, flow, flows });
            }
        }
        replications.iter().try_for_each(|replication| replication.check(self))
    }
}

impl Replication {
    /// Checks that the shape is the experiment's.
    pub(super) fn check(&self, experiment: &Experiment) -> Result<(), ResultsError> {
        self.equal("measurement windows", self.windows.len(), experiment.windows_s.len())?;
        for window in &self.windows {
            self.equal("measured flows", window.flows.len(), experiment.flows.len())?;
            self.equal("measured links", window.links.len(), experiment.links.len())?;
        }
        self.equal("flows in the time series", self.series.flows.len(), experiment.flows.len())?;
        for (flow, info) in self.series.flows.iter().zip(&experiment.flows) {
            let bins = flow.bins();
            for (column, len) in flow
                .columns()
                .iter()
                .map(|(name, values)| (*name, values.len()))
                .chain([("level", flow.level.len())])
            {
                if len != 0 {
                    self.equal(&format!("values of {column} of {}", info.name), len, bins)?;
                }
            }
        }
        self.equal("probes", self.probes.len(), experiment.probes.len())?;
        for (values, info) in self.probes.iter().zip(&experiment.probes) {
            self.equal(&format!("quantities of probe {}", info.name), values.len(), info.quantities.len())?;
            let looks = values.first().map_or(0, Vec::len);
            for values in values {
                self.equal(&format!("values of probe {}", info.name), values.len(), looks)?;
            }
        }
        Ok(())
    }

    fn equal(&self, what: &str, found: usize, expected: usize) -> Result<(), ResultsError> {
        if found == expected {
            return Ok(());
        }
        let what = format!("it has {found} {what}, not {expected}");
        Err(ResultsError::Shape { replication: self.number, what })
    }
}
