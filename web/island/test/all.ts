// Every test file, as one bundle.
import "./graph.test";
import "./builder.test";
