// headway-data: the data process of a machine.
int main() { return 0; }
