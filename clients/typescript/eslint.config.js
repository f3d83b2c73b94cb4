// What eslint holds: typescript-eslint's strictest sets, which read the types, and what each exception is for.

import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

export default defineConfig(
  { ignores: ["dist/", "dist-tests/", "dist-examples/", "src/generated/"] },
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/explicit-module-boundary-types": "error",
      "@typescript-eslint/promise-function-async": "error",
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      eqeqeq: "error",
      "no-console": "error",
      "prefer-const": "error",
      // A void function as the body of an arrow is a statement that needs no braces.
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      // These take most of the time of all rules, and nothing here has enums, or sets a class's instance to another's.
      "@typescript-eslint/no-unsafe-class-instance-assignment": "off",
      "@typescript-eslint/no-unsafe-enum-assignment": "off",
      // The reason of a signal may be anything.
      "@typescript-eslint/prefer-promise-reject-errors": ["error", { allowThrowingUnknown: true }],
      // The callers of vectors() and camel() say what a file of JSON holds.
      "@typescript-eslint/no-unnecessary-type-parameters": "off",
      // A name that begins with _ is taken out of an object and not used.
      "@typescript-eslint/no-unused-vars": ["error", { varsIgnorePattern: "^_", argsIgnorePattern: "^_" }],
      // An accepted answer may bring nothing, so that `accept` can be an assertion.
      "@typescript-eslint/no-invalid-void-type": "off",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
    },
  },
  {
    // node:test takes promises that nobody awaits, and tells of what they reject with.
    files: ["tests/**"],
    rules: {
      "@typescript-eslint/no-floating-promises": [
        "error",
        {
          allowForKnownSafeCalls: [
            { from: "package", name: ["test", "describe", "suite", "it"], package: "node:test" },
          ],
        },
      ],
    },
  },
  {
    files: ["**/*.{js,mjs}"],
    extends: [tseslint.configs.disableTypeChecked],
    rules: { "@typescript-eslint/explicit-module-boundary-types": "off" },
  },
  { files: ["scripts/**", "examples/**"], rules: { "no-console": "off", "no-undef": "off" } },
);
