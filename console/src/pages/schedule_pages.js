/** The pages of schedules, as one chunk. */
export { Cron } from './cron.js';
export { EditSchedule, NewSchedule } from './new_schedule.js';
export { Schedule } from './schedule.js';
export { Schedules } from './schedules.js';
