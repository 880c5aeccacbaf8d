/**
 * Says which organizations may start nothing new, by this process's last look: their events, or the long arguments and results of
 * their runs, take as much as they may.
 */
export interface LogLimits {
  /** Why new work of the organization is refused; undefined while it is within its limits. */
  refusal(organization: string): { code: "storage_limit_reached"; message: string } | undefined;
  /** Number of organizations over a limit. */
  countReached(): number;
}
