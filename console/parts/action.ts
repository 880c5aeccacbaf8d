/** A mutation as the component that starts it sees it. `Value` is `void` if it needs no value. */
export interface Action<Value = void> {
  mutate(value: Value): void;
  isPending: boolean;
  isSuccess: boolean;
  isError: boolean;
  error: Error | null;
}
