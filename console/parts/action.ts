/** What a mutation is to the part that starts it. `Value` is `void` where it needs nothing. */
export interface Action<Value = void> {
  mutate(value: Value): void;
  isPending: boolean;
  isSuccess: boolean;
  isError: boolean;
  error: Error | null;
}
