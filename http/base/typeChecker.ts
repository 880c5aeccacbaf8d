/* The port that finds type errors in scripts. infra/sandbox implements it. */

/** A type error. Lines and columns count from 1; the end is after the last character. */
export interface TypeFault {
  /** The number of the compiler's message: 2339 means TS2339. */
  code: number;
  message: string;
  line: number;
  column: number;
  end_line: number;
  end_column: number;
}

/** A script whose syntax and meta are checked. */
export interface TypedScript {
  type: "tool" | "workflow";
  source: string;
  /** Whether the source has TypeScript types. Otherwise it is checked as JavaScript. */
  has_types: boolean;
  /** JSON Schema of the arguments of the tool or run. */
  parameters: object;
  /** JSON Schemas of the steps' arguments, by step, if they have one. */
  step_inputs: Record<string, object>;
}

export interface TypeCheck {
  /** The first errors, in the order of the source. */
  errors: TypeFault[];
  /** One sentence on why the types were not checked; null if they were. */
  unchecked: string | null;
}

export interface TypeChecker {
  /** Checks a script in a separate process, within limits. */
  checkTypes(organization_id: string, script: TypedScript): Promise<TypeCheck>;
}
