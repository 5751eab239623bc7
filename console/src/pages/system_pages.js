/** The pages about Duetime itself, as one chunk. */
export { Forecast } from './forecast.js';
export { Lanes } from './lanes.js';
export { Limits } from './limits.js';
export { Settings } from './settings.js';
export { Workers } from './workers.js';
