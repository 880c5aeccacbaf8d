/** The rules of a workflow's runs, as the API shows them. */
export interface Envelope {
  secrets: string[];
  egress: string[];
  tools: string[];
  collections: string[];
  models: string[];
  agents: string[];
  /** Absent in envelopes of earlier releases, which means all. */
  workflows?: string[];
  /** Absent in envelopes of earlier releases, which means none. */
  writable_collections?: string[];
  limits: Record<"max_steps" | "max_parallel" | "run_ttl_s" | "step_timeout_s" | "max_result_bytes", number>;
  /** Absent in envelopes of earlier releases. */
  start_rate?: { max_runs: number; per_seconds: number; key: string | null } | null;
  priority?: "low" | "normal" | "high";
  concurrency: { max_runs: number; key: string | null } | null;
  approvals: {
    default_expiry_s: number;
    allow_api_key: boolean;
    allow_api_key_when_restricted?: boolean;
    self_approval?: boolean;
  };
  retention_days: number;
}
