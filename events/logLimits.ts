/** Says which organizations have as many events in the log as they may, by this process's last look. */
export interface LogLimits {
  /** Why new work of the organization is refused; undefined while it is within its limit. */
  refusal(organization: string): { code: "storage_limit_reached"; message: string } | undefined;
  /** Number of organizations over their limit. */
  countReached(): number;
}
