/** What words of the page mean, for those who have not met them: shown where the pointer rests. */

export const meanings = {
  reports: "How often the training function has called report(): each call has that moment's metrics, and may bring a checkpoint",
  rank: "One of the run's worker processes, by its number",
  workers: "How many processes train together",
  files: "Headway reads the runs' folders, and again every few seconds; no driver answers here",
};
