"""What cupilot compare --json says of a program with a wrong variant, and of one with a right one."""
import json
import sys

wrong, right = (json.load(open(path)) for path in sys.argv[1:])
for found in wrong, right:
    assert found["version"] == 1 and found["device"] == "cpu" and found["kernelBasis"] == "modelled", found
    launches = {(each["kind"], each.get("variant")): each["launches"] for each in found["launches"]}
    name = "wrong" if found is wrong else "by_four"
    assert launches == {("variant", name): 3, ("outside", name): 1, ("original", None): 2}, launches
    assert found["launchesComplete"] and found["endings"]["stopped"] is False
    kernel, = found["kernels"]
    assert kernel["symbol"] == "_Z5scalePffi" and kernel["hasVariants"], kernel
    assert kernel["originals"]["launches"] == kernel["variants"]["launches"] == 5, kernel
    assert 0 < kernel["variants"]["us"] < kernel["originals"]["us"], kernel
output, = wrong["outputs"]
assert not wrong["same"] and output["differing"] == 2 and wrong["wallTime"]["originals"] == []
assert output["differences"][0] == {"line": 1, "originals": "first 16\n", "variants": "first 16.048\n"}, output
assert right["same"] and len(right["wallTime"]["originals"]) == len(right["wallTime"]["variants"]) == 2
assert right["wallTime"]["ratio"] > 0 and "low" not in right["wallTime"]
