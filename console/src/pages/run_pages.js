/** The pages of workflows and their runs, as one chunk. */
export { Run } from './run.js';
export { Runs } from './runs.js';
export { Workflow } from './workflow.js';
export { Workflows } from './workflows.js';
