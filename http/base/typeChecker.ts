/* The port that finds errors of types in scripts. infra/sandbox implements it. */

/** Something that does not fit its type. Lines and columns count from 1; the end is behind the last character. */
export interface TypeFault {
  /** The compiler's number of the message: 2339 is TS2339. */
  code: number;
  message: string;
  line: number;
  column: number;
  end_line: number;
  end_column: number;
}

/** A script that passed the check of its syntax and its meta. */
export interface TypedScript {
  type: "tool" | "workflow";
  source: string;
  /** Whether it has types of TypeScript; a plain script is read as JavaScript. */
  has_types: boolean;
  /** JSON Schema of the arguments of the tool or the run. */
  parameters: object;
  /** JSON Schemas of the arguments of steps, as far as they have one. */
  step_inputs: Record<string, object>;
}

export interface TypeCheck {
  /** The first ones in the order of the source. */
  errors: TypeFault[];
  /** Why the types were not checked, in a sentence; null: they were. */
  unchecked: string | null;
}

export interface TypeChecker {
  /** Checks a script in a process of its own, within limits. */
  checkTypes(organization_id: string, script: TypedScript): Promise<TypeCheck>;
}
