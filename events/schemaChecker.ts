/** How a value violates its JSON Schema. */
export interface SchemaViolation {
  /** JSON pointer; "" for the whole value. */
  pointer: string;
  message: string;
}

/** Checks values against JSON Schemas written by organizations. Neither schemas nor values block the event loop. */
export interface SchemaChecker {
  /** Undefined when the value is valid. */
  check(organization_id: string, schema: Record<string, unknown>, value: unknown): Promise<SchemaViolation | undefined>;
}
