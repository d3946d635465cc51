# Puts the counts of a second search of the same kernel beside the first's, as a
# merge of two stores would.
import glob
import re
import sys

(path,) = glob.glob(sys.argv[1] + "/gate/*.txt")
text = open(path).read()
text = re.sub("judged .*", "judged 3", text)
text = re.sub("passed .*", "passed 0", text)
with open(path[:-5] + "x.txt", "w") as out:
    out.write(text + "reason mismatch 2\nreason race 1\n")
