interface LogRefusal {
  code: "storage_limit_reached";
  message: string;
}

/**
 * Says which organizations may start nothing new, by this process's last look: their events, or the long arguments and results of
 * their runs, take as much as they may.
 */
export interface LogLimits {
  /** Why new work of the organization is refused; undefined while it is within its limits. */
  refusal(organization: string): LogRefusal | undefined;
  /**
   * Why also everything else is refused that people can repeat: the events take 10 % more than they may. Undefined while they take
   * less.
   */
  finalRefusal(organization: string): LogRefusal | undefined;
  /** Number of organizations over a limit. */
  countReached(): number;
}
